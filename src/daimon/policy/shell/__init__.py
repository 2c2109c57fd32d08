"""Reads shell text as a shell would, without running anything, to see what it would run."""
