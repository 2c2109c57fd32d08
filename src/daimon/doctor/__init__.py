"""Is this home as it should be? Looks at everything, changes nothing."""
