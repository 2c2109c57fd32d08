"""What somebody may do here; who has which rank stands in `people.py`."""

from enum import StrEnum


class Rank(StrEnum):
    OWNER = "owner"
    TRUSTED = "trusted"
    """May talk to the agent and have it work; whatever reaches out of the machine is asked of the owner."""
    GUEST = "guest"
    """May talk to the agent; it answers from what is theirs and what is public."""
