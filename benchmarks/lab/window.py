"""Does the evidence of a question stand in the window? A stand-in for the context manager: the best that recall has, packed in its order.

The seam: `packed` says which turns stand in a window of so many tokens; whoever puts the context manager behind it changes nothing else.
"""

from collections.abc import Sequence

from daimon.abi.memory import Item

SIZES = {"4k": 4_000, "8k": 8_000, "16k": 16_000}
MOST = 600
"""Items that are asked for."""
_LETTERS_A_TOKEN = 4
_TOKENS_A_LINE = 8


def packed(recalled: Sequence[Item], tokens: int) -> set[str]:
    """What no longer fits is passed over, since something shorter may."""
    there: set[str] = set()
    left = tokens
    for item in recalled:
        cost = len(item.text) // _LETTERS_A_TOKEN + _TOKENS_A_LINE
        if cost <= left:
            left -= cost
            there.add(item.id)
    return there
