"""Daimon as a server of the Model Context Protocol: what programs of others may ask of it, at `/mcp` and by `daimon mcp serve`."""
