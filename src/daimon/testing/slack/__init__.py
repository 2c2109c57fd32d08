"""Slack on loopback: the Web API and the sockets of socket mode."""
