"""OpenAI's chat completions, on the wire."""
