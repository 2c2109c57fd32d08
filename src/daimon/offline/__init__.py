"""Homes that nobody runs, opened for one command: to read, or to change something that the next start finds.

Each file opens one thing and imports only what that needs, because a command is started, asked and gone within a moment. Whoever changes
something holds the home meanwhile (`held.py`), so that no gateway starts beside it; reading changes nothing and holds nothing.
"""
