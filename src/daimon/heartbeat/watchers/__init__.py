"""What looks before a model is woken: one file a kind."""
