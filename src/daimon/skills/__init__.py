"""Skills: what they say, which of them fit, what can be learned. Without I/O."""
