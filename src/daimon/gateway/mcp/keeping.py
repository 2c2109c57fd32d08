"""Memory for programs of others: `recall` and `remember`.

A client has a memory of its own, which is that of its principal: what it said, what it was answered, what it had kept. The owner's is not
there for it, whatever it asks, and what it keeps does not come into the owner's. A deputy reads and writes the owner's. What either of them
keeps carries its label, so `daimon memory forget --source mcp-client:NAME` takes all of it away again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ids import HOME_SPACE
from daimon.abi.memory import Amender, Amendment, Hit, Kind, Memory, Query, Remember
from daimon.abi.people import may_read
from daimon.abi.plain import clean
from daimon.abi.ports import Clock, Ids
from daimon.abi.secret import Redactor
from daimon.gateway.asked import CHECKED
from daimon.gateway.mcp.ability import Ability, Progress
from daimon.gateway.mcp.party import Party

MOST_NOTE = 4_000


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Recalling:
    text: Annotated[str, Field(max_length=1_000, description="What to look for; empty: the newest.")] = ""
    limit: Annotated[int, Field(ge=1, le=50)] = 10


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Keeping:
    text: Annotated[str, Field(min_length=1, max_length=MOST_NOTE, description="What to keep, so that it can be understood alone.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    id: str
    kind: Kind
    text: str
    at: datetime
    whose: tuple[str, ...]
    """Whose words went into it, such as `stranger@web:example.org`."""


@dataclass(frozen=True, slots=True)
class Found:
    items: tuple[Remembered, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Kept:
    id: str


@dataclass(frozen=True, slots=True)
class Notes:
    memory: Memory
    amender: Amender
    clock: Clock
    ids: Ids
    redactor: Redactor

    def all(self) -> tuple[Ability, ...]:
        return (
            Ability("recall", "Recall", "Look into memory, as far as it is yours", Recalling, Found, Right.READ, self.recall, True),
            Ability("remember", "Remember", "Have Daimon keep a note", Keeping, Kept, Right.CHAT, self.remember),
        )

    async def recall(self, party: Party, wish: Recalling, progress: Progress) -> Found:
        found = await self.memory.recall(Query(space=HOME_SPACE, principal=party.principal, text=wish.text, limit=wish.limit))
        return Found(tuple(_shown(hit) for hit in found.hits if may_read(party.principal, hit.item.label)), found.how)

    async def remember(self, party: Party, wish: Keeping, progress: Progress) -> Kept:
        note = self.ids.new("note_")
        operation = Remember(self.redactor.clean_known(clean(wish.text)), note)
        await self.amender.amend(
            Amendment(
                id=self.ids.new("a"), space=HOME_SPACE, principal=party.principal, at=self.clock.now(), operations=(operation,),
                label=party.label,
            )
        )  # fmt: skip
        return Kept(note)


def _shown(hit: Hit) -> Remembered:
    item = hit.item
    return Remembered(id=item.id, kind=item.kind, text=item.text, at=item.at, whose=tuple(map(str, item.label.origins)))
