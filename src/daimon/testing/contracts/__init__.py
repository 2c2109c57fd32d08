"""One suite a port. Subclass it, say how to open your implementation, and run it with pytest."""
