"""What a live look at a channel's service told."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Checked:
    who: str
    """As whom we are let in."""
    facts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """It works, but not as somebody may expect."""
    advised: dict[str, str] = field(default_factory=dict)
    """Settings that the service suggests, by name. They are the owner's to take."""
    link: str = ""
    """Leads to a chat with it; a pairing code goes behind it. Empty: there is no such thing."""
    pair_at: str = ""
    """Where a pairing code is said."""
