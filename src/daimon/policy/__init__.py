"""May this happen? Pure functions: same question, same answer."""
