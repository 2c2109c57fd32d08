"""The file system: what is kept for later. Every store in here is a projection of the journal."""
