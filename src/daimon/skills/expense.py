"""Was a turn expensive? Then there is something to learn from it: many steps, a failure that was got over, a word of the owner's that put
it right. Only turns that ended well count: what did not work is no lesson yet."""

from dataclasses import dataclass

from daimon.skills.experience import Experience
from daimon.skills.recovery import Recovery, recoveries

MANY_DEEDS, MANY_REPLIES = 6, 8


@dataclass(frozen=True, slots=True)
class Expense:
    deeds: int = 0
    """0: not many."""
    replies: int = 0
    recovered: tuple[Recovery, ...] = ()
    corrected: int = 0

    @property
    def is_any(self) -> bool:
        return bool(self.deeds or self.recovered or self.corrected)

    @property
    def in_words(self) -> str:
        why = []
        if self.deeds:
            why.append(f"it took {self.deeds} calls of tools and {self.replies} of the model")
        if self.recovered:
            why.append(f"{_times(len(self.recovered))} something failed and was got over")
        if self.corrected:
            why.append(f"{_times(self.corrected)} you put it right")
        return ", ".join(why)


def expense(lived: Experience) -> Expense:
    if not lived.went_well or not any(not deed.code for deed in lived.deeds):
        return Expense()
    is_long = len(lived.deeds) >= MANY_DEEDS or (lived.model_calls >= MANY_REPLIES and bool(lived.deeds))
    return Expense(
        deeds=len(lived.deeds) if is_long else 0,
        replies=lived.model_calls if is_long else 0,
        recovered=recoveries(lived.deeds),
        corrected=len(lived.corrections),
    )


def _times(n: int) -> str:
    return "once" if n == 1 else "twice" if n == 2 else f"{n} times"
