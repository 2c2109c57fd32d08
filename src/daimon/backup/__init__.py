"""Copies of a whole home in one file each: made while it runs, verified by restoring them, put back as a whole."""
