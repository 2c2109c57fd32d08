"""Attacks on the box, what they are played on, and who judges them. One file a family; `catalogue` has all."""
