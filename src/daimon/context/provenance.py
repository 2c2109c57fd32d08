"""What a model call had before it, message by message, and where each comes from.

The exact bytes of every request are kept; where its messages come from is worked out from the journal, when somebody asks: every event and
step that the request could show is put into each of its forms again, and the message with the same bytes is that one. What was made for
the prompt (page, summary, memory) says in brackets what it is, and why a line of memory was recalled stands in the references of the reply.
A message that nothing explains is shown as `unknown`: another release made it, or what it was made of is erased.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from daimon.abi.codec import blob_hash, decode, encode
from daimon.abi.context import Entry, Form, Sort
from daimon.abi.errors import Erased, JournalDamaged, NotFound
from daimon.abi.ids import BlobHash, TurnId
from daimon.abi.label import Label
from daimon.abi.message import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from daimon.abi.ports import Archive
from daimon.abi.step import ContextRef, ModelFailed, Received, Replied, Step
from daimon.abi.tool import Manifest
from daimon.context.blocks import why as reasons
from daimon.context.entries import Entries
from daimon.context.tokens import estimate, of_tool

_BLOCKS: dict[str, tuple[Sort, str]] = {
    "[page]": ("page", "the page, which is part of every prompt"),
    "[earlier]": ("summary", "in place of turns that were left out"),
    "[memory]": ("memory", "recalled for what was said"),
    "[skills]": ("skills", "skills that may fit what was said"),
    "[turns]": ("said", "the turns that are to be summarised"),
    "[now]": ("notice", "what was true then and stood nowhere else"),
}
_REF = re.compile(r"recall ref=(\S+) reads")
_ITEM = re.compile(r"\((\S+)\)$")
_FORMS: tuple[Form, ...] = ("whole", "brief", "bare")


class Blobs(Protocol):
    async def get(self, blob: BlobHash) -> bytes: ...


@dataclass(frozen=True, slots=True)
class LineOf:
    """A line inside of a block: an item of memory."""

    item: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class SeenMessage:
    role: Role
    sort: Sort
    source: str
    form: Form
    tokens: int
    label: Label
    why: str
    text: str
    lines: tuple[LineOf, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """The request of one model call."""

    turn: TurnId
    step: int
    model: str
    messages: tuple[SeenMessage, ...]
    tools: tuple[str, ...]
    tools_tokens: int
    told: int
    """Input tokens, as the model counted; 0: it did not say."""
    cached: int
    refs: tuple[ContextRef, ...]


async def seen(archive: Archive, store: Blobs, turn: TurnId, step: int | None = None) -> SeenRequest:
    """Of the model call at this step; None: the last one. Raises NotFound, Erased."""
    steps = await archive.steps(turn)
    calls = {each.n: each.body for each in steps if isinstance(each.body, Replied | ModelFailed) and each.body.request is not None}
    n = max(calls, default=-1) if step is None else step
    if n not in calls:
        raise NotFound(f"step {n} of {turn} is no model call; those are {', '.join(map(str, calls)) or 'none'}")
    call = calls[n]
    assert call.request is not None
    chunks = list(_chunks(await _request(store, call.request, f"step {n} of {turn}")))
    refs = call.context if isinstance(call, Replied) else _refs_before(steps, n)
    known = await _candidates(archive, turn, [TurnId(ref.ref) for ref in refs if ref.what == "turn"])
    recalled = _recalls([each.context for each in calls.values() if isinstance(each, Replied)])
    for earlier in (ref.ref for ref in refs if ref.what == "turn"):
        with suppress(NotFound, JournalDamaged):
            recalled |= _recalls([each.body.context for each in await archive.steps(TurnId(earlier)) if isinstance(each.body, Replied)])
    tools = decode(tuple[Manifest, ...], chunks[1]) if len(chunks) > 1 else ()
    messages = tuple(_message(chunk, known, recalled) for n, chunk in enumerate(chunks) if n != 1)
    usage = call.usage if isinstance(call, Replied) else None
    return SeenRequest(
        turn, n, call.model, messages, tuple(tool.name for tool in tools), sum(map(of_tool, tools)),
        usage.input_tokens if usage else 0, usage.cached_tokens if usage else 0, refs,
    )  # fmt: skip


async def _request(store: Blobs, request: BlobHash, which: str) -> bytes:
    try:
        return await store.get(request)
    except Erased:
        raise Erased(f"the request of {which} held words that were deleted since; `daimon trace` shows the rest of the turn") from None


def _refs_before(steps: tuple[Step, ...], n: int) -> tuple[ContextRef, ...]:
    """A call that failed recorded none: those of the reply before it are the nearest."""
    return next((each.body.context for each in reversed(steps[:n]) if isinstance(each.body, Replied)), ())


def _chunks(data: bytes) -> Iterator[bytes]:
    """A request is JSON values, one after the other."""
    text, decoder, at = data.decode(), json.JSONDecoder(), 0
    while at < len(text):
        _, end = decoder.raw_decode(text, at)
        yield text[at:end].encode()
        at = end


async def _candidates(archive: Archive, turn: TurnId, earlier: list[TurnId]) -> dict[bytes, tuple[Entry, Form, bool]]:
    found: dict[bytes, tuple[Entry, Form, bool]] = {}
    for id_ in (*earlier, turn):
        try:
            about = await archive.turn(id_)
            steps = await archive.steps(id_)
            later = [s.body.event for s in steps if isinstance(s.body, Received) and s.body.resolves is None]
            events = {event: await archive.event(event) for event in later}
            entries = Entries().of_turn(await archive.event(about.event), id_, steps, events)
        except (NotFound, JournalDamaged):
            continue
        for entry in entries:
            for form, message in zip(_FORMS, (entry.whole, entry.brief, entry.bare), strict=True):
                found.setdefault(encode(Message, message), (entry, form, id_ != turn))
    return found


def _message(chunk: bytes, known: Mapping[bytes, tuple[Entry, Form, bool]], recalled: Mapping[str, "_Recalled"]) -> SeenMessage:
    message = decode(Message, chunk)
    text = text_of(message)
    found = SeenMessage(
        message.role, "unknown", "", "whole", estimate(message), message.label, "nothing in the journal explains it", text
    )  # fmt: skip
    if message.role is Role.SYSTEM:
        return replace(found, sort="system", source="daimon", why="the system text and the owner's own words for every prompt")
    if chunk in known:
        entry, form, is_earlier = known[chunk]
        where = "an earlier turn of this conversation" if is_earlier else "this turn"
        short = "" if form == "whole" else f"; {form}, because the window was full"
        return replace(found, sort=entry.sort, source=entry.source, why=f"part of {where}{short}", form=form)
    mark = text.split(maxsplit=1)[0] if text.strip() else ""
    if mark in _BLOCKS and message.role is Role.USER:
        sort, reason = _BLOCKS[mark]
        block = recalled.get(blob_hash(chunk), _Recalled((), {}))
        lines = block.lines(text) if sort == "memory" else tuple(_notes(text)) if sort == "page" else ()
        return replace(found, sort=sort, source="memory" if lines else "daimon", why=reason, lines=lines)
    if ref := _REF.search(text):
        return replace(found, source=ref[1], why="clipped, because nothing else would fit", form="clipped")
    return found


@dataclass(frozen=True, slots=True)
class _Recalled:
    """What a turn recalled, in the order of the lines of its block."""

    items: tuple[str, ...]
    why: Mapping[str, str]

    def lines(self, text: str) -> tuple[LineOf, ...]:
        found = [line for line in text.split("\n") if line.startswith("- ")]
        items = self.items if len(found) == len(self.items) else ("",) * len(found)
        return tuple(LineOf(item, line, self.why.get(item, "")) for item, line in zip(items, found, strict=True))


def _recalls(contexts: Iterable[tuple[ContextRef, ...]]) -> dict[str, _Recalled]:
    """By the hash of the block; only the reply that was the first to have it tells what is in it."""
    found: dict[str, _Recalled] = {}
    for refs in contexts:
        hash_ = next((ref.ref for ref in refs if ref.what == "recall"), "")
        items = tuple(ref.ref for ref in refs if ref.what == "memory")
        if hash_ and items:
            found[hash_] = _Recalled(items, reasons(refs))
    return found


def _notes(text: str) -> Iterator[LineOf]:
    for line in text.split("\n")[1:]:
        if item := _ITEM.search(line):
            yield LineOf(item[1], line, "")


def text_of(message: Message) -> str:
    return "\n".join(text for part in message.parts for text in _words(part))


def _words(part: Part) -> tuple[str, ...]:
    match part:
        case Text(text) | Reasoning(text=text):
            return (text,)
        case ToolResult(parts=inner):
            return tuple(each.text for each in inner if isinstance(each, Text))
        case ToolCall(tool=tool, arguments=arguments):
            return (f"[call] {tool} {json.dumps(arguments, ensure_ascii=False)}",)
        case _:
            return (f"[{part.kind}]",)
