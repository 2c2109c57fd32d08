"""GitHub on a loopback port: the part of its REST API that a triage needs."""
