"""From the Markdown of a model to what a channel shows."""
