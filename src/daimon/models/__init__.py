"""Processors: whatever turns a request into a reply. `reflex` is the built-in one that needs no model at all."""
