"""Readers of the journal: what happened, told to people and to other programs."""
