"""Signing in at servers by OAuth 2.1: where, as whom, and the tokens that come of it."""
