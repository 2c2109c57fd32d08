"""Device drivers: the box in which all runs that a model asks for."""
