"""What a change of the settings came to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changed:
    version: str
    """Of the settings, as they are now."""
    restart: tuple[str, ...] = ()
    """Sections whose change waits for the next start."""
    notes: tuple[str, ...] = ()
    """What else happened, such as a key that went with its model."""
