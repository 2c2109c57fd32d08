"""Servers of the Model Context Protocol that are connected: their tools, pinned, in a box or through the way out."""
