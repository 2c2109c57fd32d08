"""Terminals: shells that stay, in a box, with what they print."""
