"""The window of one turn, laid out: every entry in its form, encoded and counted.

A layout grows with its turn. What was laid out once is used again as it is, so a step costs what is new in it, however much stands before.
A cut, an outcome that belongs further up, or a secret that became known lays everything out anew, from bytes that the entries have. After
a cut that was recorded the next step begins with what is still shown (`Layouts.of`), as another process would. Nothing here waits for
anything, and nothing is cleaned here but what was made before a secret became known.

In the order of a request: system text and tools, page, summary, entries, notices. Each has its share, so that they never take more than
there is: the page a quarter of the window, the summary a quarter of the room, notices `FOR_NOTICES`; entries get what is left.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from daimon.abi.codec import blob_hash, encode
from daimon.abi.context import Account, Background, Block, Entry, Form, Prompt, Scene
from daimon.abi.ids import TurnId
from daimon.abi.label import Label, join
from daimon.abi.message import Message
from daimon.abi.model import Request
from daimon.abi.secret import Redactor
from daimon.abi.step import ContextRef
from daimon.context import blocks, compress, places, policy
from daimon.context.budget import LEAST_ROOM, TokenBudget
from daimon.context.entries import Entries
from daimon.context.explain import Shown, explain
from daimon.context.fixed import Fixed
from daimon.context.offers import mentions
from daimon.context.tokens import estimate
from daimon.context.watch import Watch

MOST_LAYOUTS = 32
FOR_NOTICES = 200
"""Tokens kept free for what must be known now, if a quarter of the room is as much."""
Opening = Callable[[Mapping[str, int]], Fixed]
"""The beginning of a request in whose window these tools came up."""
_FORMS: dict[Form, int] = {"whole": 0, "brief": 1, "bare": 2}


class Layouts:
    def __init__(self, redactor: Redactor, entries: Entries) -> None:
        self._redactor, self._entries = redactor, entries
        self._kept: OrderedDict[TurnId, Layout] = OrderedDict()

    def of(self, turn: TurnId, background: Background) -> "Layout":
        kept = self._kept.get(turn)
        if kept is None or kept.earlier is not background.earlier:
            kept = self._kept[turn] = Layout(background, self._redactor, self._entries)
            if len(self._kept) > MOST_LAYOUTS:
                self._kept.popitem(last=False)
        return kept

    def clear(self) -> None:
        self._kept.clear()


@dataclass(frozen=True, slots=True)
class _Room:
    page: Block | None
    top: int
    """Tokens of system text and page."""
    entries: int
    """With the summary."""
    notices: int


class Layout:
    def __init__(self, background: Background, redactor: Redactor, cleaner: Entries) -> None:
        self.earlier = background.earlier
        self._redactor, self._cleaner = redactor, cleaner
        self._before = [entry for stretch in background.earlier for entry in stretch.entries]
        self._summary = background.summary
        self._written = background.cut
        self._version = redactor.version
        self._entries: list[Entry] | None = None
        self._laid = False

    def prompt(self, scene: Scene, background: Background, now: Sequence[Entry], opening: Opening, budget: TokenBudget) -> Prompt:
        self.extend(now)
        room = _room(opening(self._mentions), budget, background.page)
        self._fit(room.entries)
        fixed = opening(self._mentions)  # a cut may have taken what had brought some of the tools up
        self._lay()
        notice = self._notice(background, room.notices)
        head = tuple(each.message for each in (room.page, self._summary) if each is not None)
        tail = () if notice is None else (notice,)
        messages = (fixed.system, *head, *self._messages, *tail)
        chunks = (*fixed.chunks, *(encode(Message, each) for each in head), *self._chunks, *(encode(Message, each) for each in tail))
        label = join({fixed.label, *(message.label for message in (*head, *tail)), *self._labels.values()})
        request = Request(messages, fixed.tools, label=label, context=self._refs(background, room.page), thread=_thread(scene))
        shown = Shown(self._line, self._forms, self._pins, self._shown, self._edge, len(self._line), fixed.system, head, tail)
        return Prompt(request, chunks, self._account(fixed, budget, room, notice), partial(explain, shown))

    # -- keeping up

    def extend(self, now: Sequence[Entry]) -> None:
        """Adds what is new. An outcome may come late and belong further up; then all is laid out anew."""
        if self._version != self._redactor.version:
            self._version = self._redactor.version
            self._before = [self._cleaner.cleaned(entry) for entry in self._before]
            self._written, self._entries = self.written, None
            self._summary = self._summary and self._clean(self._summary)
        if self._entries is None or not self._goes_on(now):
            self._written = self.written
            self._line = self._entries = [*self._before, *now]
            self._edge = len(self._before)
            self._cut = places.placed_at(self._entries, self._written)
            self._watch = Watch(self._edge)
            self._place()
        for entry in now[len(self._line) - self._edge :]:
            self._line.append(entry)
            self._forms.append("whole")
            self._tokens += entry.tokens[0]
            self._mentions.update(dict.fromkeys(entry.shows, len(self._line) - 1))
            if self._laid:
                self._show(len(self._line) - 1)
        self._watch.follow(self._line)

    @property
    def written(self) -> str:
        """The cut, as it is recorded."""
        return self._written if self._entries is None else places.written(self._entries, self._cut)

    def _goes_on(self, now: Sequence[Entry]) -> bool:
        known = len(self._line) - self._edge
        return known <= len(now) and all(self._line[self._edge + n] is now[n] for n in range(known - 1, -1, -1))

    def _place(self) -> None:
        """Gives each entry its form."""
        cut, entries = self._cut, self._line
        line = policy.line_at(entries, cut.at, cut.begin)
        self._pins = policy.pinned(line, cut.at, cut.room, cut.begin)
        self._forms: list[Form | None] = policy.placed(line, cut, self._pins)
        self._mentions = mentions(entry for entry, form in zip(entries, self._forms, strict=True) if form is not None)
        at = min(cut.at, len(entries))
        self._tokens = sum(entry.tokens[0] for entry in entries[at:])
        self._tokens += sum(self._size(entries[n], form) for n, form in enumerate(self._forms[:at]) if form is not None)
        self._laid = False

    def _size(self, entry: Entry, form: Form) -> int:
        return _clipped_size(entry, self._cut.clip) if form == "clipped" else entry.tokens[_FORMS[form]]

    def _lay(self) -> None:
        if self._laid:
            return
        self._laid = True
        at = min(self._cut.at, len(self._line))
        self._messages: list[Message] = []
        self._chunks: list[bytes] = []
        self._shown: list[int] = []
        self._labels: dict[int, Label] = {}
        self._of_earlier = self._of_memory = 0
        for n, form in enumerate(self._forms[:at]):
            if form is not None:
                self._show(n)
        self._show_whole(at)

    def _show_whole(self, at: int) -> None:
        """All from there on, which is what most of a long window is."""
        rest, earlier = self._line[at:], max(self._edge - at, 0)
        messages, sizes = [entry.whole for entry in rest], [entry.tokens[0] for entry in rest]
        self._messages += messages
        self._shown += sizes
        self._chunks += [entry.chunks[0] for entry in rest]
        self._labels |= {id(message.label): message.label for message in messages}
        self._of_earlier += sum(sizes[:earlier])
        self._of_memory += sum(size for entry, size in zip(rest[earlier:], sizes[earlier:], strict=True) if entry.sort == "memory")

    def _show(self, n: int) -> None:
        entry, form = self._line[n], self._forms[n]
        if form == "clipped":
            message = _clipped(entry, self._cut.clip)
            chunk, tokens = encode(Message, message), estimate(message)
        else:
            kind = _FORMS[form or "whole"]
            message = entry.whole if kind == 0 else entry.brief if kind == 1 else entry.bare
            chunk, tokens = entry.chunks[kind], entry.tokens[kind]
        self._messages.append(message)
        self._chunks.append(chunk)
        self._shown.append(tokens)
        self._labels[id(message.label)] = message.label
        if n < self._edge:
            self._of_earlier += tokens
        elif entry.sort == "memory":
            self._of_memory += tokens

    def _fit(self, room: int) -> None:
        """Cuts if it must."""
        most = min(blocks.MOST_SUMMARY, room // 4)
        self._summary = blocks.fitted(self._summary, most)
        if self._tokens + _tokens(self._summary) <= room:
            return
        begin, line = self._cut.begin, policy.line_at(self._line, len(self._line), self._cut.begin)
        self._cut = policy.cut(line, room - most, self._cut, _clipped_size)
        self._place()
        gone = [self._line[n] for n in range(begin, self._cut.begin) if self._forms[n] is None and not self._line[n].is_block]
        if gone:
            made = blocks.summary(self._summary.message if self._summary else None, gone, most)
            self._summary = made

    def _clean(self, made: Block) -> Block:
        message = self._cleaner.clean(made.message)
        return made if message.parts is made.message.parts else blocks.block(message, made.refs)

    def _notice(self, background: Background, most: int) -> Message | None:
        watch, forms = self._watch, self._forms
        hidden = [self._line[n] for n in watch.errors if forms[n] is None]
        stale = {path: f"at {self._line[n].source}" for path, n in watch.stale.items() if forms[n] is not None}
        read = watch.read
        stale |= {path: "" for path in background.stale if path not in stale and (path not in read or forms[read[path]] is not None)}
        return blocks.notices(hidden[-policy.MOST_ERRORS :], stale, most)

    # -- what is told of it

    def _refs(self, background: Background, page: Block | None) -> tuple[ContextRef, ...]:
        refs, first = list[ContextRef](), self._cut.begin
        for stretch in self.earlier:
            first -= len(stretch.entries)
            if first < 0:
                refs.append(ContextRef("turn", stretch.turn))
        shown = (("page", page), ("summary", self._summary), ("recall", background.memory), ("skills", background.skills))
        for what, block in shown:
            if block is not None:
                refs += [ContextRef(what, block.hash), *block.refs]
        if self.written:
            refs.append(ContextRef("cut", self.written))
        return (*refs, *(ContextRef("late", what) for what in background.late))

    def _account(self, fixed: Fixed, budget: TokenBudget, room: _Room, notice: Message | None) -> Account:
        return Account(
            window=budget.window, output=budget.kept_free, system=fixed.system_tokens, tools=fixed.tools_tokens, page=_tokens(room.page),
            earlier=self._of_earlier + _tokens(self._summary), memory=self._of_memory,
            turn=self._tokens - self._of_earlier - self._of_memory, notices=estimate(notice) if notice else 0,
        )  # fmt: skip


def _room(fixed: Fixed, budget: TokenBudget, page: Block | None) -> _Room:
    spare = budget.window - fixed.system_tokens - fixed.tools_tokens - LEAST_ROOM
    page = blocks.fitted(page, min(budget.window // 4, spare))
    top = fixed.system_tokens + _tokens(page)
    room = budget.room(top, fixed.tools_tokens)
    notices = min(FOR_NOTICES, room // 4)
    return _Room(page, top, room - notices, notices)


def _tokens(block: Block | None) -> int:
    return 0 if block is None else estimate(block.message)


def _clipped(entry: Entry, most: int) -> Message:
    """What was recalled is there as a whole or not at all."""
    if entry.tokens[0] <= most:
        return entry.whole
    return entry.brief if entry.is_block else compress.clipped(entry.whole, entry.source, most)


def _clipped_size(entry: Entry, most: int) -> int:
    return entry.tokens[0] if entry.tokens[0] <= most else estimate(_clipped(entry, most))


def _thread(scene: Scene) -> str:
    """A name for the conversation that tells a provider nothing else about it."""
    return blob_hash(str(scene.turn.where).encode())[:32]
