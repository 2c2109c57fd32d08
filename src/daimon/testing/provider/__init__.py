"""A language model's HTTP server on a loopback port, for tests and for those who develop without one."""
