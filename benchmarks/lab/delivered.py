"""The judge of deliveries: what was handed in, what is seen at the service, what Daimon says of it.

    lost          some of it is not there, and it is not reported as unknown or failed
    duplicated    some of it is there twice, or where it was never meant to be
    out of order  some of it stands behind what was said after it
    misreported   it is reported as failed, with nothing of it out, and yet it is there

It is told nothing by the system but the states of the outbox, and looks at nothing but what people at the service can see.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lab.letter import MARK, Letter, ordered


@dataclass(frozen=True, slots=True)
class Told:
    """What the outbox says of a letter that it does not call sent."""

    state: str
    note: str


@dataclass(slots=True)
class Delivered:
    messages: int = 0
    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    misreported: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Reported as such."""
    unknown_seen: int = 0
    """Of these, so many are there all the same."""
    failed: list[str] = field(default_factory=list)

    def add(self, other: "Delivered") -> None:
        self.messages += other.messages
        self.unknown_seen += other.unknown_seen
        for name in ("lost", "duplicated", "out_of_order", "misreported", "unknown", "failed"):
            getattr(self, name).extend(getattr(other, name))

    @property
    def is_kept(self) -> bool:
        return not (self.lost or self.duplicated or self.out_of_order or self.misreported)


def judge(letters: Sequence[Letter], seen: Iterable[str], told: Mapping[str, Told]) -> Delivered:
    """Of one place: its letters in the order in which they were handed in, and the texts that are seen there, in theirs."""
    verdict = Delivered(messages=len(letters))
    marks = [(f"{channel}-{place}-{n}", int(n), int(k)) for text in seen for channel, place, n, k in MARK.findall(text)]
    counted = Counter((name, k) for name, _, k in marks)
    wanted = {(letter.name, k) for letter in letters for k in letter.marks}
    verdict.duplicated += [f"{name}.{k} was never meant for this place" for name, k in counted if (name, k) not in wanted]
    late = _late(marks)
    for letter in letters:
        _judge(letter, counted, told.get(letter.name), verdict)
        if letter.name in late:
            verdict.out_of_order.append(letter.name)
    return verdict


def _judge(letter: Letter, counted: Counter[tuple[str, int]], told: Told | None, verdict: Delivered) -> None:
    times = [counted[letter.name, k] for k in letter.marks]
    missing = [k for k, many in enumerate(times) if not many]
    if max(times) > 1:
        verdict.duplicated.append(f"{letter.name}: {times}")
    match told:
        case None if missing:
            verdict.lost.append(f"{letter.name}: {len(missing)} of {len(times)} parts, from {missing[0]} on")
        case Told(state="unknown"):
            verdict.unknown.append(letter.name)
            verdict.unknown_seen += not missing
        case Told(state="failed", note=note):
            verdict.failed.append(f"{letter.name}: {note}")
            if any(times) and "pieces went out" not in note:
                verdict.misreported.append(f"{letter.name}: failed ({note}), and yet {times} of it is there")
        case _:
            pass


def _late(marks: Iterable[tuple[str, int, int]]) -> set[str]:
    """Letters of which something first comes behind what should come later."""
    highest, first, late = (-1, -1), set(), set()
    for name, n, k in marks:
        if (n, k) in first:
            continue
        first.add((n, k))
        if (n, k) < highest:
            late.add(name)
        highest = max(highest, (n, k))
    return late


@dataclass(slots=True)
class TakenIn:
    messages: int = 0
    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)

    def add(self, other: "TakenIn") -> None:
        self.messages += other.messages
        for name in ("lost", "duplicated", "out_of_order"):
            getattr(self, name).extend(getattr(other, name))

    @property
    def is_kept(self) -> bool:
        return not (self.lost or self.duplicated or self.out_of_order)


def judge_taken(letters: Sequence[Letter], texts: Iterable[str]) -> TakenIn:
    """Of one place: what people said there in that order, and the events that the journal has of it, in its order."""
    names = [letter.name for text in texts if (letter := ordered(text)) is not None]
    counted, rank = Counter(names), {letter.name: n for n, letter in enumerate(letters)}
    verdict = TakenIn(len(letters), [name for name in rank if not counted[name]])
    verdict.duplicated += [f"{name}: {many} times" for name, many in counted.items() if many > 1 or name not in rank]
    highest = -1
    for name in dict.fromkeys(names):
        if rank.get(name, highest) < highest:
            verdict.out_of_order.append(name)
        highest = max(highest, rank.get(name, highest))
    return verdict
