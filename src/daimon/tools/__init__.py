"""System calls: what a model may do. Each tool is an async function with a manifest; none does I/O but through a port."""
