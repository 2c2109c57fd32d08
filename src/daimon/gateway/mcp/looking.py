"""Turns, for programs of others: `runs`.

A client sees the turns that it caused itself; any other is not there for it. One that has the owner's voice sees all. What a client is
shown is what it was told anyway: how a turn stands and what it said at its end, after the last wall; the steps are the owner's.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.errors import NotFound
from daimon.abi.ids import HOME_SPACE, TurnId
from daimon.abi.turn import Ending, State, Turn
from daimon.gateway.asked import CHECKED
from daimon.gateway.mcp.ability import Ability, Progress
from daimon.gateway.mcp.party import Party
from daimon.gateway.mcp.talking import OVER, Place, Talking

MOST = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Looking:
    run: Annotated[str, Field(max_length=80, description="One of them, with what it answered; empty: a list.")] = ""
    conversation: Place | None = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    run: TurnId
    conversation: str
    state: State
    ending: Ending | None
    created_at: datetime
    ended_at: datetime | None
    steps: tuple[str, ...] = ()
    """What kinds of steps it took, where the owner looks at one."""
    reply: str = ""
    """Of one that was asked for, when it is over."""


@dataclass(frozen=True, slots=True)
class Runs:
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Looks:
    talking: Talking

    def all(self) -> tuple[Ability, ...]:
        what = "What Daimon did for you, newest first (of one conversation; without a name, of `main`); with `run`, one of them"
        return (Ability("runs", "Runs", what, Looking, Runs, Right.READ, self.look, True),)

    async def look(self, party: Party, wish: Looking, progress: Progress) -> Runs:
        if wish.run:
            return Runs((await self._one(party, TurnId(wish.run)),))
        named = "main" if wish.conversation is None and not party.is_owner else wish.conversation
        conversation = None if named is None else party.conversation(named)
        turns = await self.talking.archive.turns(HOME_SPACE, wish.limit, conversation)
        return Runs(tuple(_run(party, turn) for turn in turns if _may_see(party, turn)))

    async def _one(self, party: Party, id_: TurnId) -> Run:
        with suppress(NotFound):
            turn = await self.talking.archive.turn(id_)
            if _may_see(party, turn):
                steps = tuple(step.body.kind for step in await self.talking.archive.steps(id_)) if party.is_owner else ()
                return _run(party, turn, steps, await self.talking.words(turn) if turn.state in OVER else "")
        raise NotFound(f"there is no run {id_[:40]!r} that you caused")


def _may_see(party: Party, turn: Turn) -> bool:
    return party.is_owner or (turn.principal == party.principal and party.is_own(turn.conversation))


def _run(party: Party, turn: Turn, steps: tuple[str, ...] = (), reply: str = "") -> Run:
    return Run(
        run=turn.id, conversation=turn.conversation.removeprefix(party.conversation("")), state=turn.state, ending=turn.ending,
        created_at=turn.created_at, ended_at=turn.ended_at, steps=steps, reply=reply,
    )  # fmt: skip
