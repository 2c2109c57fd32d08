"""Meaning: vectors of texts, made by a small model in a process of its own or by a server that the owner names."""
