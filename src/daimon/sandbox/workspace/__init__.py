"""Workspaces as layers on disk: checkpoints, forks, merges, and the way back into the owner's directory."""
