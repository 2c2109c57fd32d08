"""Turns for two screens: the list of all, and one as a waterfall.

    GET /v1/runs                        newest first; ?conversation ?state ?agent ?job ?model ?text ?since ?until ?before ?limit
    GET /v1/runs/ID                     one, with a page of its stretches of time; ?first ?limit ?step
    GET /v1/runs/ID/spans/N             one stretch in full: prompt, arguments, result, decision
    GET /v1/runs/ID/spans/N/pieces/I    a text of it that was cut, whole

What a list can be narrowed down by is found by the journal, except for words and models: these are looked for here, in so many turns for
one request; `next` says where to go on. A run of ten thousand steps comes in pages, of one that is
kept woven for a while (`loom.py`).
"""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked
from starlette.responses import Response

from daimon.abi.access import Right
from daimon.abi.errors import NotFound
from daimon.abi.ids import HOME_SPACE, TurnId
from daimon.abi.label import Label
from daimon.abi.ports import Archive, Clock, Store
from daimon.abi.runs import Run, Runs, Sought
from daimon.abi.turn import Ending, State, Turn
from daimon.gateway.asked import CHECKED, At
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.cutting import MOST_MESSAGE, Clean, cut
from daimon.gateway.room.loom import Loom
from daimon.gateway.room.span import Detail, Details
from daimon.kernel import words
from daimon.kernel.spans import Idle, Span, idle
from daimon.kernel.totals import Totals, totals
from daimon.kernel.weaving import begun_at

BATCH, MOST_SEARCHED = 200, 2_000
MOST_SAID, MOST_LOOKED_AT = 160, 20_000
MOST_STEPS, MOST_DIGITS = 10**9, 9
PLAIN = "text/plain"


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Filter:
    conversation: str = ""
    state: State | None = None
    agent: str = ""
    job: str = ""
    model: str = ""
    text: str = ""
    since: At | None = None
    until: At | None = None
    before: str = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Part:
    first: Annotated[int, Field(ge=0, le=MOST_STEPS)] = 0
    limit: Annotated[int, Field(ge=1, le=1_000)] = 400
    step: Annotated[int, Field(ge=0, le=MOST_STEPS)] | None = None
    """Which stretch has this step? `found` says so, and where `first` is left out the page begins a little before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: TurnId
    said: str
    """How what started it begins."""
    label: Label
    conversation: str
    agent: str
    job: str
    principal: str
    state: State
    ending: Ending | None
    started_at: datetime
    duration_ms: float | None
    """None: it is not over."""
    models: tuple[str, ...]
    steps: int
    model_calls: int
    tool_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Rows:
    rows: tuple[Row, ...]
    next: str
    """Where to go on (`before`); empty: there are no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    turn: Turn
    said: str
    totals: Totals
    began_at: datetime
    """The zero of all times."""
    end_ms: float
    """Of what there is; of a run that goes on, now."""
    count: int
    first: int
    spans: tuple[Span, ...]
    open: int | None
    """The first stretch that goes on: from there on a page may change."""
    idle: tuple[Idle, ...]
    found: int | None
    """The stretch with the step that was asked for."""


@dataclass(frozen=True, slots=True)
class RunRoutes:
    archive: Archive
    store: Store
    runs: Runs
    clock: Clock
    clean: Clean
    loom: Loom

    def all(self) -> tuple[Entry, ...]:
        path, read = "/v1/runs", Right.READ
        one, whole = "One turn as stretches of time, a page of them, with totals", "A text of a stretch that was cut, whole"
        return (
            Entry("GET", path, self._list, Rows, "Turns, newest first, with what each took", read, query=Filter),
            Entry("GET", f"{path}/{{id}}", self._one, RunPage, one, read, query=Part, fails=(404,)),
            Entry(
                "GET", f"{path}/{{id}}/spans/{{n}}", self._span, Detail, "One stretch of a turn: prompt, arguments, result, decision", read,
                fails=(404,),
            ),
            Entry("GET", f"{path}/{{id}}/spans/{{n}}/pieces/{{i}}", self._piece, bytes, whole, read, fails=(404,), media=PLAIN),
        )  # fmt: skip

    # -- the list

    async def _list(self, call: Call[Filter, None]) -> Rows:
        wish, found, before, searched = call.query, list[Row](), call.query.before, 0
        while len(found) < wish.limit and searched < MOST_SEARCHED:
            runs = await self.runs.runs(HOME_SPACE, _sought(wish, before), BATCH if wish.text or wish.model else wish.limit)
            for run in runs:
                before, searched = run.turn.id, searched + 1
                if self._fits(run, wish):
                    found.append(self._row(run))
                if len(found) == wish.limit:
                    return Rows(tuple(found), before)
            if len(runs) < (BATCH if wish.text or wish.model else wish.limit):
                return Rows(tuple(found), "")
        return Rows(tuple(found), before)

    def _fits(self, run: Run, wish: Filter) -> bool:
        if wish.model and wish.model not in run.models:
            return False
        return not wish.text or wish.text.casefold() in self._said(run, MOST_LOOKED_AT).casefold()

    def _row(self, run: Run) -> Row:
        turn, usage = run.turn, run.usage
        duration = None if turn.ended_at is None else (turn.ended_at - turn.created_at).total_seconds() * 1000
        return Row(
            id=turn.id, said=self._said(run, MOST_SAID), label=turn.label if run.event is None else run.event.label,
            conversation=turn.conversation, agent=turn.agent, job=turn.job, principal=turn.principal, state=turn.state, ending=turn.ending,
            started_at=turn.created_at, duration_ms=duration, models=run.models, steps=run.steps, model_calls=run.model_calls,
            tool_calls=run.tool_calls, input_tokens=usage.input_tokens, cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens, cost=usage.cost,
        )  # fmt: skip

    def _said(self, run: Run, most: int) -> str:
        return "(cannot be read)" if run.event is None else words.short(self.clean(words.said(run.event.body)[:MOST_LOOKED_AT]), most)

    # -- one

    async def _one(self, call: Call[Part, None]) -> RunPage:
        woven = await self.loom.woven(TurnId(call.path["id"]))
        part, turn, steps, found, event = call.query, woven.turn, woven.steps, woven.spans, woven.event
        at = None if part.step is None else next((span.n for span in found if part.step in span.steps), None)
        first = part.first if part.first or at is None else max(0, at - part.limit // 2)
        zero = begun_at(turn, event, steps)
        end_ms = round(((turn.ended_at or self.clock.now()) - zero).total_seconds() * 1000, 3)
        return RunPage(
            turn=turn, said=words.short(self.clean(words.said(event.body)[:MOST_LOOKED_AT]), MOST_SAID), totals=totals(turn, steps),
            began_at=zero, end_ms=end_ms, count=len(found), first=first, spans=found[first : first + part.limit],
            open=next((span.n for span in found if span.end_ms is None), None), idle=idle(found, end_ms), found=at,
        )  # fmt: skip

    async def _span(self, call: Call[None, None]) -> Detail:
        detail = await self._detail(call.path["id"], call.path["n"])
        return Detail(
            detail.span, detail.facts, tuple(cut(piece, self.clean) for piece in detail.pieces), detail.gate,
            tuple(replace(each, piece=cut(each.piece, self.clean, MOST_MESSAGE)) for each in detail.messages), detail.note,
        )  # fmt: skip

    async def _piece(self, call: Call[None, None]) -> Response:
        detail, which = await self._detail(call.path["id"], call.path["n"]), _number(call.path["i"])
        texts = [piece.text for piece in detail.pieces] + [message.piece.text for message in detail.messages]
        if which >= len(texts):
            raise NotFound(f"this stretch has {len(texts)} texts, so none has the number {which}")
        headers = {"content-disposition": f'attachment; filename="run-{call.path["n"]}-{which}.txt"'}
        return Response(self.clean(texts[which]), headers=headers, media_type=PLAIN)

    async def _detail(self, id_: str, n: str) -> Detail:
        woven, which = await self.loom.woven(TurnId(id_)), _number(n)
        if which >= len(woven.spans):
            raise NotFound(f"turn {id_} has {len(woven.spans)} stretches, so none has the number {which}")
        return await Details(self.archive, self.store, woven).of(woven.spans[which])


def run_routes(archive: Archive, store: Store, runs: Runs, clock: Clock, clean: Clean) -> RunRoutes:
    return RunRoutes(archive, store, runs, clock, clean, Loom(archive, runs, clock, clean))


def _sought(wish: Filter, before: str) -> Sought:
    return Sought(
        conversation=wish.conversation, state=wish.state, agent=wish.agent, job=wish.job, since=wish.since, until=wish.until,
        before=before,
    )  # fmt: skip


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > MOST_DIGITS:
        raise NotFound(f"{text[:20]!r} is no number of a stretch or of a text")
    return int(text)
