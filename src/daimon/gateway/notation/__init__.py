"""What a model writes, in the notation of each channel."""
