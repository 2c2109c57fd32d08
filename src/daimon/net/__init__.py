"""The one guarded way out of the box."""
