"""What file calls left in a tree, compared with what the journal says of them: pure functions, so that a broken tree can be shown to be
called broken.

    lost           done, by the journal, and not in the tree; what a shell knew, and does not know any more
    repeated       in the tree twice; a command that was cut off and run again
    inconsistent   in the tree without anybody who says so; a checkpoint that is not there or does not show what it was made of; one
                   and the same tree that looks different from two sides

A tree is its files, by path, with their text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lab.deed import BASE, FIRST, LAST, TOP, Deed, Mark, room_of

Tree = dict[str, str]


@dataclass(slots=True)
class Damage:
    lost: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    inconsistent: list[str] = field(default_factory=list)

    @property
    def is_none(self) -> bool:
        return not (self.lost or self.repeated or self.inconsistent)

    def add(self, other: "Damage", where: str = "") -> None:
        for mine, theirs in ((self.lost, other.lost), (self.repeated, other.repeated), (self.inconsistent, other.inconsistent)):
            mine += [told for fault in theirs if (told := f"{where}{fault}") not in mine]


def judge_tree(deeds: Sequence[Deed], tree: Tree) -> Damage:
    """The tree as it is now, when nothing is under way."""
    words, strange = read(tree)
    damage = Damage(inconsistent=strange + _nobodys(deeds, words))
    for deed in deeds:
        counts = [words[word] for word in deed.words]
        if deed.told == "done" and 0 in counts:
            damage.lost.append(f"{deed.name} ({deed.tool}) is told as done, and is not there: {counts}")
        if max(counts) > 1:
            damage.repeated.append(f"{deed.name} ({deed.tool}) was done more than once: {counts}")
        if deed.tool == "run" and deed.how == "reran":
            damage.repeated.append(f"{deed.name} (run) was run again")
        if deed.told == "nothing" and any(counts):
            damage.inconsistent.append(f"{deed.name} ({deed.tool}) is told as refused, and is there")
        if counts != sorted(counts, reverse=True):
            damage.inconsistent.append(f"{deed.name} ({deed.tool}) left its end, not its beginning: {counts}")
    return damage


def judge_mark(mark: Mark, deeds: Sequence[Deed], tree: Tree) -> Damage:
    """A checkpoint's tree is the state before its calls: with all that was over, and nothing that had not begun."""
    words, strange = read(tree)
    damage = Damage(inconsistent=strange + _nobodys(deeds, words))
    for deed in deeds:
        counts = [words[word] for word in deed.words]
        if deed.name in mark.not_yet or deed.begun > mark.at:
            damage.inconsistent += [f"{deed.name} ({deed.tool}) is in it, and began later"] if any(counts) else []
        elif deed.told == "done" and deed.ended is not None and deed.ended <= mark.since and counts != [1] * len(counts):
            damage.inconsistent.append(f"{deed.name} ({deed.tool}) was over, and is in it {counts} times")
        elif max(counts) > 1:
            damage.inconsistent.append(f"{deed.name} ({deed.tool}) is in it {counts} times")
    return damage


def judge_shells(deeds: Iterable[Deed], marks: Sequence[Mark], deaths: Sequence[datetime]) -> tuple[Damage, int]:
    """Each command begins where the one before it went. After a death, where the last one went that a checkpoint came after, at least.
    Also how often it came back with less than the journal tells as done."""
    damage, older = Damage(), 0
    before: dict[str, list[Deed]] = {}
    for deed in sorted((deed for deed in deeds if deed.tool == "run"), key=lambda deed: deed.begun):
        earlier = before.setdefault(deed.place, [])
        if deed.was is not None:
            fault, is_older = _remembered(deed, earlier, marks, deaths)
            damage.lost += [fault] if fault else []
            older += is_older
        earlier.append(deed)
    return damage, older


def _remembered(deed: Deed, earlier: list[Deed], marks: Sequence[Mark], deaths: Sequence[datetime]) -> tuple[str, bool]:
    assert deed.was is not None
    directory, memory = deed.was
    if directory != (room_of(memory) if memory != "nothing" else TOP):
        return f"{deed.name}: its shell remembered {memory} and was in {directory}", False
    names = [each.name for each in earlier]
    if memory not in ("nothing", *names):
        return f"{deed.name}: its shell remembered {memory}, which was not before it", False
    at = names.index(memory) if memory in names else -1
    done = max((n for n, each in enumerate(earlier) if each.told == "done"), default=-1)
    kept = max((n for n, each in enumerate(earlier) if each.told == "done" and _is_kept(each, deed, marks, deaths)), default=-1)
    if at < kept:
        return f"{deed.name}: its shell remembered {memory}, and {names[kept]} was kept", False
    return "", at < done


def _is_kept(before: Deed, deed: Deed, marks: Sequence[Mark], deaths: Sequence[datetime]) -> bool:
    """No death came after it, or a checkpoint came first."""
    assert before.ended is not None
    death = next((each for each in deaths if before.ended <= each <= deed.begun), None)
    return death is None or any(before.ended <= mark.since and mark.at <= death for mark in marks)


def read(tree: Tree) -> tuple[Counter[str], list[str]]:
    """The words that calls left, and what is not as any call leaves it."""
    words: Counter[str] = Counter()
    strange = [f"{path} is gone" for path in BASE if path not in tree]
    for path, text in tree.items():
        match path.split("/"):
            case ["notes", name]:
                words[name] += 1
                strange += [f"{path} holds {text[:80]!r}"] if text != f"{name}\n" else []
            case ["edited"]:
                words.update(text.removesuffix(LAST).split("\n")[:-1])
                strange += ["edited has lost its end"] if not text.endswith(LAST) else []
            case ["log"]:
                words.update(text.removeprefix(FIRST).split("\n")[:-1])
                strange += [f"log holds {text[:40]!r} … {text[-40:]!r}"] if not (text.startswith(FIRST) and text.endswith("\n")) else []
            case _:
                strange += [f"{path} holds {text[:80]!r}"] if BASE.get(path) != text else []
    return words, strange


def _nobodys(deeds: Sequence[Deed], words: Counter[str]) -> list[str]:
    known = {word for deed in deeds for word in deed.words}
    return [f"{word} is there, and nobody did it" for word in words if word not in known]
