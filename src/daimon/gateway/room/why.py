"""Why an answer says what it says: what the model had before it, and where each piece of that comes from.

    GET /v1/turns/ID/why   ?step: a certain model call; else the last

Recalled memories come with their receipts, as they are known now: an item that was deleted since is shown as the line that the model read.
Everything else that the model saw is a source: words that came in, results of tools, earlier turns, summaries. What the model made of
them nobody can know; this shows what it had.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.codec import encode
from daimon.abi.curator import Account, Curator
from daimon.abi.errors import Erased, NotFound
from daimon.abi.ids import TurnId
from daimon.abi.label import Label
from daimon.abi.ports import Archive, Store
from daimon.abi.secret import Redactor
from daimon.abi.step import Happened, Intended, Step
from daimon.context.provenance import LineOf, SeenMessage, SeenRequest, seen
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.markdown import without_turning

MOST_TEXT = 600
"""Characters of a source that are shown."""
MOST_ADDRESSES = 5
_SHOWN = ("said", "result", "reply", "summary", "notice", "unknown")
_ADDRESS = re.compile(rb"https?://[^\s\"'<>\\]{3,300}", re.IGNORECASE)


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Asking:
    step: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    item: str
    """For the page of memory; empty: the journal does not say which item it was."""
    kind: str
    text: str
    why: str
    """Which lists had it, and in which place."""
    at: datetime | None
    speaker: str
    conversation: str
    source: str
    label: Label | None
    standing: str
    """`deleted` where nothing is left of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    sort: str
    """`said`, `result`, `reply`, `summary`, `notice`, `unknown`."""
    ref: str
    """The event, or the step as TURN:N."""
    turn: str
    """The turn that a step belongs to."""
    tool: str
    text: str
    is_cut: bool
    form: str
    """`whole`, or how much of it was left when the window was full."""
    is_earlier: bool
    addresses: tuple[str, ...]
    label: Label
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    turn: TurnId
    step: int | None
    model: str
    memories: tuple[Remembered, ...]
    notes: tuple[Remembered, ...]
    """Of the page that stands in every prompt."""
    sources: tuple[Source, ...]
    missing: str
    """Why nothing can be shown; empty where it can."""


@dataclass(frozen=True, slots=True)
class WhyRoutes:
    archive: Archive
    store: Store
    curator: Curator
    redactor: Redactor

    def all(self) -> tuple[Entry, ...]:
        return (Entry("GET", "/v1/turns/{id}/why", self._why, Why, "What an answer was made of", Right.READ, query=Asking),)

    async def _why(self, call: Call[Asking, None]) -> Why:
        turn = (await self.archive.turn(TurnId(call.path["id"]))).id
        try:
            found = await seen(self.archive, self.store, turn, call.query.step)
        except (Erased, NotFound) as missing:
            return Why(turn=turn, step=None, model="", memories=(), notes=(), sources=(), missing=str(missing))
        accounts = await self._accounts(found)
        steps = await self.archive.steps(turn)
        return await asyncio.to_thread(_Telling(found, accounts, _tools(steps), self.redactor.clean_known).told)

    async def _accounts(self, found: SeenRequest) -> dict[str, Account]:
        """Receipts of the items that were recalled. What the journal does not know any more has none."""
        known: dict[str, Account] = {}
        for item in dict.fromkeys(line.item for message in found.messages for line in message.lines if line.item):
            try:
                known[item] = await self.curator.why(item)
            except NotFound:
                continue
        return known


@dataclass(frozen=True, slots=True)
class _Telling:
    found: SeenRequest
    accounts: Mapping[str, Account]
    used: Mapping[str, tuple[str, tuple[str, ...]]]
    clean: Callable[[str], str]

    def told(self) -> Why:
        found = self.found
        return Why(
            turn=found.turn, step=found.step, model=found.model, memories=self._lines("memory"), notes=self._lines("page"),
            sources=tuple(self._source(each) for each in found.messages if each.sort in _SHOWN), missing="",
        )  # fmt: skip

    def _lines(self, sort: str) -> tuple[Remembered, ...]:
        return tuple(self._remembered(line) for each in self.found.messages if each.sort == sort for line in each.lines)

    def _remembered(self, line: LineOf) -> Remembered:
        account = self.accounts.get(line.item)
        item = None if account is None else account.item
        return Remembered(
            item=line.item, kind="" if item is None else item.kind, text=self._shown(line.text.removeprefix("- ")), why=line.why,
            at=None if item is None else item.at, speaker="" if item is None else without_turning(item.speaker),
            conversation="" if item is None else item.conversation, source="" if item is None else item.source,
            label=None if item is None else item.label, standing="deleted" if item is None and line.item else item.standing if item else "",
        )  # fmt: skip

    def _source(self, message: SeenMessage) -> Source:
        tool, addresses = self.used.get(message.source, ("", ()))
        turn = message.source.partition(":")[0] if ":" in message.source else ""
        return Source(
            sort=message.sort, ref=message.source, turn=turn, tool=tool, text=self._shown(message.text),
            is_cut=len(message.text) > MOST_TEXT, form=message.form, is_earlier="earlier turn" in message.why,
            addresses=tuple(map(self.clean, addresses)), label=message.label, tokens=message.tokens,
        )  # fmt: skip

    def _shown(self, text: str) -> str:
        return without_turning(self.clean(text))[:MOST_TEXT]


def _tools(steps: Iterable[Step]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """By the step of an outcome: which tool it was, and the web addresses in what it was called with."""
    steps = tuple(steps)
    intents = {step.n: step.body for step in steps if isinstance(step.body, Intended)}
    done = ((str(step.ref), intents.get(step.body.intent)) for step in steps if isinstance(step.body, Happened))
    return {ref: (intent.tool, _addresses(intent)) for ref, intent in done if intent is not None}


def _addresses(intent: Intended) -> tuple[str, ...]:
    found = _ADDRESS.findall(encode(Intended, intent)[:100_000])
    return tuple(dict.fromkeys(each.decode("utf-8", "replace") for each in found))[:MOST_ADDRESSES]
