"""The window of one turn, laid out: every entry in its form, cleaned, encoded, counted.

A layout grows with its turn. What was laid out once is used again as it is, so a step costs what is new in it, however much stands before.
Only a cut, or a secret that became known, lays everything out anew. Nothing here waits for anything.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import blob_hash, encode
from daimon.abi.context import Account, Background, Block, Entry, Form, Prompt, Scene, Seen, Sort
from daimon.abi.ids import TurnId
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.message import Message
from daimon.abi.model import Request
from daimon.abi.secret import Redactor
from daimon.abi.step import ContextRef
from daimon.context import blocks, compress, policy
from daimon.context.budget import TokenBudget
from daimon.context.offers import Offer
from daimon.context.policy import Cut, Line
from daimon.context.tokens import estimate

OURS = Label.of(Origin(Author.SERVICE, "daimon"))
MOST_LAYOUTS = 32
FOR_NOTICES = 200
"""Tokens kept free for what must be known now."""
AFTER_NOTHING = "-"
MOST_INTERNED = 10_000


@dataclass(frozen=True, slots=True)
class Fixed:
    """What stands at the beginning of every request."""

    system: Message
    offer: Offer
    budget: TokenBudget


class Layouts:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept: OrderedDict[TurnId, Layout] = OrderedDict()
        self._labels: dict[Label, Label] = {}

    def of(self, turn: TurnId, background: Background) -> "Layout":
        kept = self._kept.get(turn)
        if kept is None or kept.earlier is not background.earlier:
            kept = self._kept[turn] = Layout(background, self._redactor, self._one)
            if len(self._kept) > MOST_LAYOUTS:
                self._kept.popitem(last=False)
        return kept

    def clear(self) -> None:
        self._kept.clear()

    def _one(self, label: Label) -> Label:
        """Equal labels as one object: they can then be told apart by what they are, at once."""
        if len(self._labels) > MOST_INTERNED:
            self._labels.clear()
        return self._labels.setdefault(label, label)


class Layout:
    def __init__(self, background: Background, redactor: Redactor, one: Callable[[Label], Label]) -> None:
        self.earlier = background.earlier
        self._redactor, self._one = redactor, one
        self._before = [entry for stretch in background.earlier for entry in stretch.entries]
        self._entries: list[Entry] = list(self._before)
        self._summary = background.summary
        self._cut = _placed_at(self._before, background.cut)
        self._version = redactor.version
        self._lay()

    def prompt(self, scene: Scene, background: Background, now: Sequence[Entry], fixed: Fixed) -> Prompt:
        self._extend(now)
        system = self._clean(fixed.system)
        tools = fixed.offer.shown(self._in_window())
        page = background.page
        top = estimate(system) + (estimate(page.message) if page else 0)
        room = fixed.budget.room(top, tools.tokens) - FOR_NOTICES
        fresh = self._fit(room)
        tools = fixed.offer.shown(self._in_window())  # a cut may have taken what had brought some of them up
        notice = self._notice(background)
        head = [each.message for each in (page, self._summary) if each is not None]
        tail = [] if notice is None else [notice]
        messages = (system, *head, *self._messages, *tail)
        chunks = (encode(Message, system), tools.chunk, *(encode(Message, each) for each in head))
        chunks = (*chunks, *self._chunks, *(encode(Message, each) for each in tail))
        label = join({id(each): each for each in (system.label, *(m.label for m in head), *self._labels)}.values())
        request = Request(messages, tools.tools, label=label, context=self._refs(background, fresh), thread=_thread(scene))
        return Prompt(request, chunks, self._account(fixed, top, tools.tokens, notice), self._explained(system, head, tail))

    # -- keeping up

    def _extend(self, now: Sequence[Entry]) -> None:
        """Adds what is new. An outcome may come late and belong further up; then all is laid out anew."""
        known = self._entries[len(self._before) :]
        if self._version != self._redactor.version or len(known) > len(now) or any(a is not b for a, b in zip(known, now, strict=False)):
            self._entries = [*self._before, *now]
            self._version = self._redactor.version
            self._lay()
            return
        for entry in now[len(known) :]:
            self._entries.append(entry)
            self._forms.append("whole")
            self._show(entry, "whole")

    def _lay(self) -> None:
        cut, entries = self._cut, self._entries
        self._pins = policy.pinned(_line(entries, cut.at), cut.at, cut.room)
        self._forms: list[Form | None] = policy.placed(entries, cut, self._pins)
        self._messages: list[Message] = []
        self._chunks: list[bytes] = []
        self._labels: list[Label] = []
        self._shown: list[int] = []
        self._tokens = 0
        for entry, form in zip(entries, self._forms, strict=True):
            if form is not None:
                self._show(entry, form)

    def _show(self, entry: Entry, form: Form) -> None:
        message, tokens = _formed(entry, form, self._cut.clip)
        message = self._clean(message)
        self._messages.append(message)
        self._chunks.append(encode(Message, message))
        self._labels.append(self._one(message.label))
        self._shown.append(tokens)
        self._tokens += tokens

    def _fit(self, room: int) -> tuple[ContextRef, ...]:
        """Cuts if it must; what the new summary quotes."""
        space = room - (estimate(self._summary.message) if self._summary else 0)
        if self._tokens <= space:
            return ()
        line, begin = _line(self._entries, len(self._entries)), self._cut.begin
        self._cut = policy.cut(line, max(space - blocks.MOST_SUMMARY, space // 2), self._cut)
        self._lay()
        gone = [self._entries[n] for n in range(begin, self._cut.begin) if self._forms[n] is None and self._entries[n].sort != "memory"]
        summary = blocks.summary(self._summary.message if self._summary else None, gone) if gone else None
        if summary is not None:
            message = self._clean(summary.message)
            self._summary = Block(blob_hash(encode(Message, message)), message)
        return () if summary is None else summary.refs

    def _in_window(self) -> Iterator[Entry]:
        return (entry for entry, form in zip(self._entries, self._forms, strict=True) if form is not None)

    def _clean(self, message: Message) -> Message:
        parts = cleaned(message.parts, self._redactor.clean)
        return message if parts is message.parts else replace(message, parts=parts)

    def _notice(self, background: Background) -> Message | None:
        entries, task = self._entries, len(self._before)
        failed = policy.open_errors(entries, task)
        hidden = [entries[n] for n in failed if self._forms[n] is None]
        stale = {path: f"at {entries[n].source}" for path, n in policy.stale_files(entries).items() if self._forms[n] is not None}
        stale |= dict.fromkeys(background.stale, "")
        return blocks.notices(hidden[-policy.MOST_ERRORS :], stale, background.late)

    # -- what is told of it

    def _refs(self, background: Background, fresh: tuple[ContextRef, ...]) -> tuple[ContextRef, ...]:
        refs, first = [], self._cut.begin
        for stretch in self.earlier:
            first -= len(stretch.entries)
            if first < 0:
                refs.append(ContextRef("turn", stretch.turn))
        for what, block in (("page", background.page), ("summary", self._summary), ("recall", background.memory)):
            if block is not None:
                refs += [ContextRef(what, block.hash), *(fresh if what == "summary" else block.refs)]
        if self._cut != Cut():
            refs.append(ContextRef("cut", _written(self._entries, self._cut)))
        return (*refs, *(ContextRef("late", what) for what in background.late))

    def _account(self, fixed: Fixed, top: int, tools: int, notice: Message | None) -> Account:
        sizes = {"earlier": 0, "memory": 0, "turn": 0}
        positions = [n for n, form in enumerate(self._forms) if form is not None]
        edge = len(self._before)
        split = sum(n < edge for n in positions[: len(self._shown)])
        sizes["earlier"] = sum(self._shown[:split]) + (estimate(self._summary.message) if self._summary else 0)
        recalled = [self._shown[i] for i in range(split, len(positions)) if self._entries[positions[i]].sort == "memory"]
        sizes["memory"] = sum(recalled)
        sizes["turn"] = sum(self._shown[split:]) - sizes["memory"]
        page = top - estimate(fixed.system)
        return Account(
            window=fixed.budget.window, output=fixed.budget.kept_free, system=top - page, tools=tools, page=page,
            notices=estimate(notice) if notice else 0, **sizes,
        )  # fmt: skip

    def _explained(self, system: Message, head: list[Message], tail: list[Message]) -> Callable[[], tuple[Seen, ...]]:
        state = (list(self._entries), list(self._forms), self._pins, list(self._shown), len(self._before))
        return partial(_explain, state, system, tuple(head), tuple(tail))


State = tuple[list[Entry], "list[Form | None]", "dict[int, str]", "list[int]", int]


def _explain(state: State, system: Message, head: tuple[Message, ...], tail: tuple[Message, ...]) -> tuple[Seen, ...]:
    entries, forms, pins, sizes, edge = state
    found = [_fixed("daimon", "system", system, "the system text and the owner's own words for every prompt")]
    for message in head:
        is_page = message.text.startswith("[page]")
        why = "the page, which is part of every prompt" if is_page else "in place of what was left out"
        found.append(_fixed("memory" if is_page else "earlier turns", "page" if is_page else "summary", message, why))
    tiers = policy.tiers(Line(entries, edge), forms, pins)
    used = {entry.subject: entry.source for entry in entries if entry.subject}
    shown = [n for n, form in enumerate(forms) if form is not None]
    for n, tokens in zip(shown, sizes, strict=True):
        entry, form = entries[n], forms[n] or "whole"
        why = _why(entry, n < edge, form)
        pinned, last_use = pins.get(n, ""), used.get(entry.subject, "")
        found.append(Seen(entry.source, entry.sort, form, tiers[n], tokens, entry.label, why, pinned, entry.version, last_use))
    found += [_fixed("daimon", "notice", message, "what is true now and stands nowhere else") for message in tail]
    return tuple(found)


def _fixed(source: str, sort: Sort, message: Message, why: str) -> Seen:
    return Seen(source, sort, "whole", "L1", estimate(message), message.label, why)


def _why(entry: Entry, is_earlier: bool, form: Form) -> str:
    where = "an earlier turn of this conversation" if is_earlier else "this turn"
    what = {"said": "what was said in", "reply": "a reply of", "result": "the result of a call of", "memory": "recalled from memory for"}
    short = "" if form == "whole" else f", {form} because the window was full"
    return f"{what.get(entry.sort, 'part of')} {where}{short}"


def _formed(entry: Entry, form: Form, clip: int) -> tuple[Message, int]:
    match form:
        case "whole":
            return entry.whole, entry.tokens[0]
        case "brief":
            return entry.brief, entry.tokens[1]
        case "bare":
            return entry.bare, entry.tokens[2]
        case "clipped":
            if entry.tokens[0] <= clip:
                return entry.whole, entry.tokens[0]
            message = compress.clipped(entry.whole, entry.source, clip)
            return message, estimate(message)


def _line(entries: Sequence[Entry], at: int) -> Line:
    """As it was at the end of entry `at`: the turn of that moment, and what the agent was about."""
    at = min(at, len(entries))
    task = at
    while task > 0 and entries[task - 1].turn == entries[at - 1].turn:
        task -= 1
    focus = next((entry.subject for entry in reversed(entries[:at]) if entry.subject.startswith("focus_on ")), "")
    return Line(entries, task, tuple(word for word in focus.lower().split()[1:] if len(word) > 2))


def _written(entries: Sequence[Entry], cut: Cut) -> str:
    """Places are named by the entry before them: numbers would shift with what leaves the window."""
    places = (cut.begin, cut.bare, cut.brief, cut.at)
    return " ".join([*(entries[n - 1].source if n else AFTER_NOTHING for n in places), str(cut.clip), str(cut.room)])


def _placed_at(entries: Sequence[Entry], written: str) -> Cut:
    """What left the window since is before all that is here."""
    at = {entry.source: n + 1 for n, entry in enumerate(entries)}
    match written.split():
        case [begin, bare, brief, end, clip, room] if clip.isdecimal() and room.isdecimal():
            return Cut(at.get(begin, 0), at.get(bare, 0), at.get(brief, 0), at.get(end, 0), int(clip), int(room))
        case _:
            return Cut()


def _thread(scene: Scene) -> str:
    """A name for the conversation that tells a provider nothing else about it."""
    return blob_hash(str(scene.turn.where).encode())[:32]
