"""Telegram on a loopback port: its Bot API, and the people on the other side."""
