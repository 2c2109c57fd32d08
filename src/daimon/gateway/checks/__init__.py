"""Trying a channel's credentials: one file a service. Nothing is sent to anybody, nothing is marked as read, nothing stays behind."""
