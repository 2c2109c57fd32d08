"""Nodes and edges, and a small language to ask about them."""
