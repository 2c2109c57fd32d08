"""The model's Markdown, as each channel writes it."""
