"""Questions to the owner, for programs that may answer in their place: `approvals`.

The one thing that must never be is that a program asks for something and then says yes to it. So a question into which its own words went
is not there for it: one of its own conversations, of what these started, or of a turn that read anything it said, which the labels tell. An
answer of its own does not count among those words: who answers the first question of a task may answer the second.

An answer is the owner's to the kernel, whichever device it came from, and is written down among the acts with who gave it. A program that
has the owner's voice says what it likes; any other picks an option as it stands, which brings no words of its own into the turn, and gives
no standing permission.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.errors import BadInput, Forbidden, NotFound
from daimon.abi.event import Answer, Event
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.ports import Archive, Clock, Ids
from daimon.gateway.access.acts import Acts
from daimon.gateway.asked import CHECKED
from daimon.gateway.inbox import Inbox
from daimon.gateway.mcp.ability import Ability, Progress
from daimon.gateway.mcp.party import Party
from daimon.gateway.taking import noted
from daimon.kernel.permission import GRANT
from daimon.kernel.questions import OpenQuestion, open_questions


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Deciding:
    to: Annotated[str, Field(max_length=200, description="The question to answer; empty: list those that are open.")] = ""
    choice: Annotated[str, Field(max_length=1_000, description="One of its options.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    to: str
    """What an answer names."""
    text: str
    options: tuple[str, ...]
    """The first is the safe one."""
    type: str
    asked_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    open: tuple[Open, ...]
    answered: str = ""
    """The question that was answered just now; the answer counts if nobody else's came first."""


@dataclass(frozen=True, slots=True)
class Decisions:
    inbox: Inbox
    archive: Archive
    acts: Acts
    clock: Clock
    ids: Ids

    def all(self) -> tuple[Ability, ...]:
        what = "The questions that the owner is being asked; with `to` and `choice`, answer one in their place"
        return (Ability("approvals", "Approvals", what, Deciding, Approvals, Right.APPROVE, self.decide),)

    async def decide(self, party: Party, wish: Deciding, progress: Progress) -> Approvals:
        asked = [each for each in await open_questions(self.archive, HOME_SPACE) if not await self._is_of(party, each.to.turn)]
        if not wish.to:
            return Approvals(open=tuple(map(_shown, asked)))
        question = next((each for each in asked if str(each.to) == wish.to), None)
        if question is None:
            raise NotFound(f"no question {wish.to[:80]!r} is open that this client may answer")
        await self._answer(party, question, _choice(party, question, wish.choice))
        return Approvals(open=tuple(_shown(each) for each in asked if each is not question), answered=wish.to)

    async def _answer(self, party: Party, question: OpenQuestion, choice: str) -> None:
        now, id_ = self.clock.now(), EventId(self.ids.new("e"))
        event, _ = await self.inbox.accept(
            Event(
                id=id_, source=party.source, key=Key(id_), conversation=question.conversation, principal=OWNER, body=Answer(choice),
                occurred_at=now, received_at=now, label=_label(party), resolves=question.to,
            )
        )  # fmt: skip
        await noted(self.acts, party.caller, event)

    async def _is_of(self, party: Party, id_: TurnId) -> bool:
        """Did words of this program go into what is asked there? Of a task of several turns, those of the first count as well."""
        turn = await self.archive.turn(id_)
        for each in {turn.id, turn.root}:
            found = await self.archive.turn(each)
            begun = await self.archive.event(found.event)
            steps = await self.archive.steps(each)
            places = (found.conversation, found.origin, begun.conversation)
            labels = (found.label, begun.label, *(step.label for step in steps))
            if begun.source == party.source or any(map(party.is_own, places)) or _names(labels, party.source):
                return True
        return False


def _names(labels: Iterable[Label], source: str) -> bool:
    return any(origin.source == source for label in labels for origin in label.origins)


def _label(party: Party) -> Label:
    source = f"{party.source}/answer"
    return owned(source) if party.is_owner else Label.of(Origin(Author.LIMITED, source), readers=(OWNER,))


def _choice(party: Party, asked: OpenQuestion, choice: str) -> str:
    """Raises BadInput and Forbidden."""
    options = asked.question.options
    if not choice.strip() or (options and not party.is_owner and choice not in options):
        raise BadInput(f"choice: {choice[:40]!r} is none of {', '.join(options) or 'a text'}")
    if not party.is_owner and (not options or choice == GRANT):
        raise Forbidden("this client picks one of the options, and gives no standing permission; the owner answers this one")
    return choice


def _shown(asked: OpenQuestion) -> Open:
    question = asked.question
    return Open(
        to=str(asked.to), text=question.text, options=question.options, type=question.type, asked_at=asked.asked_at,
        expires_at=question.expires_at,
    )  # fmt: skip
