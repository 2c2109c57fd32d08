"""What a user wishes, as text that a model without a mind can follow.

    x17 | pure; idempotent, verifiable; unsafe

Before the bar stands the mark, by which everything that this message causes is found again. Rounds are separated by `;`, calls of
one round by `,`. The model (`model.py`) makes the calls of one round after another and then says `done x17`.
"""

import re
from dataclasses import dataclass

_TIMER = re.compile(r"^\[timer\] (?P<about>.*) \(due .*\)$")
EFFECTS = ("pure", "idempotent", "verifiable", "unsafe", "gated", "slow", "hanging", "stubborn")
"""Tools that act on the world: one of each class of effect, one that needs the owner's word, and three that take too long."""


@dataclass(frozen=True, slots=True)
class Script:
    mark: str
    rounds: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Script":
        if fired := _TIMER.match(text):
            text = fired["about"]
        mark, _, rest = text.partition("|")
        rounds = (tuple(call.strip() for call in part.split(",") if call.strip()) for part in rest.split(";"))
        return cls(mark.strip(), tuple(filter(None, rounds)))

    def __str__(self) -> str:
        return f"{self.mark} | {'; '.join(', '.join(calls) for calls in self.rounds)}"

    @property
    def ending(self) -> str:
        """A turn whose model is silent ends when the owner says so."""
        return "stopped" if any("silence" in calls for calls in self.rounds) else "answered"

    @property
    def answer(self) -> str:
        return f"done {self.mark}"
