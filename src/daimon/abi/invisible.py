"""Characters that nobody sees: they turn the direction of a line, split words, or carry letters that only programs read. Pure.

Two of them are part of how some scripts and pictures are written, between two characters that are no ASCII; there they stay.
"""

import re

_HIDDEN = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0]"
    r"|[\ufff9-\ufffb\U000e0000-\U000e01ef\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_JOINERS = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])|[\u200c\u200d]{2,}")


def visible(text: str) -> tuple[str, int]:
    """Without them, and how many there were."""
    shown, hidden = _HIDDEN.subn("", text)
    shown, joiners = _JOINERS.subn("", shown)
    return shown, hidden + joiners
