"""How much free text may go to one destination in a day, by the kind of data that it may carry.

Each call that is let through may be in order, and many of them still carry away more than anybody meant. So what goes to one destination
without a question has a limit, smaller where something private was read in the turn. What the owner allowed with a word of their own does
not count.
"""

from daimon.abi.judgement import Portion
from daimon.policy.act import FREE_TEXT, Act, is_private
from daimon.policy.names import canonical


def portions(act: Act) -> tuple[Portion, ...]:
    """What the call would carry, to each whom it reaches."""
    characters = sum(len(text) for role in FREE_TEXT for text in act.texts(role))
    kind = "private" if any(map(is_private, (*act.situation.seen, *act.situation.before))) else "other"
    return tuple(Portion(name, kind, characters) for name in sorted({canonical(text) for text in act.audience})) if characters else ()


def excess(act: Act, carried: tuple[Portion, ...]) -> str:
    """In words, what would be too much; empty if all of it is within the limits."""
    for portion in carried:
        most = act.situation.most.get(portion.kind)
        before = sum(
            each.characters for each in act.situation.outflow if (each.destination, each.kind) == (portion.destination, portion.kind)
        )
        if most is not None and before + portion.characters > most:
            what = "text that may hold private data" if portion.kind == "private" else "text"
            return f"{before + portion.characters:,} characters of {what} would have gone there today, {most:,} may without a question."
    return ""
