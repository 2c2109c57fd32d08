"""Anthropic's messages, on the wire."""
