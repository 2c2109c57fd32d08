"""Calls under way, and what their servers ask the owner meanwhile.

    run ──> the server works ──> its answer is the result
                  └─ it asks ──> Pending with a question; the call goes on here, and waits
                                     go_on(answer) ──> the server works ──> …

A call lives in a task of its own, so that it outlives the step in which it asked. Whatever ends the waiting is told to the server: an
answer, a no, no answer in time, the end of the turn. What a server asks when no call of it is under way, or when several are and nobody can
tell for whose it asks, is declined: a question needs somebody in whose name it is asked. Only the owner is asked. A secret is never given:
a form that asks for one is declined, and the owner is told. All of it is gone with this process.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.ids import TurnId
from daimon.abi.label import Label
from daimon.abi.people import serves_owner
from daimon.abi.secret import Redactor
from daimon.abi.tool import Call, Operation, Pending, Question, Result, Word
from daimon.kernel.feed import Changed, Feed
from daimon.mcp import forms
from daimon.mcp.connection import OF_CALL
from daimon.mcp.forms import Form
from daimon.mcp.words import shown

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.session import ClientRequestContext, ElicitationFnT

WAITS = timedelta(hours=1)
"""So long the owner may take, and the server must wait."""
MOST_QUESTIONS = 5
"""Of one call."""
TRIES = 3
"""To fill in one form."""
LONGEST_S = MOST_QUESTIONS * TRIES * WAITS.total_seconds()
"""A call with all its questions."""
Tell = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Want:
    """What a call needs before it goes on: the owner's word, or what comes of something that is set going."""

    question: Question | None
    answer: "asyncio.Future[Word]"
    operations: tuple[Operation, ...] = ()
    carries: Label | None = None


@dataclass(slots=True, eq=False)
class Talk:
    server: str
    call: Call
    handle: str
    task: "asyncio.Task[Result]"
    questions: "asyncio.Queue[Want]" = field(default_factory=lambda: asyncio.Queue(1))
    open: Want | None = None
    count: int = 0

    def asked_more(self) -> None:
        """Raises BadInput where it was too often."""
        self.count += 1
        if self.count > MOST_QUESTIONS:
            raise BadInput(f"it asked more than {MOST_QUESTIONS} times in one call")

    def pending(self, want: Want) -> Pending:
        until = self.call.now + WAITS
        return Pending(self.handle, want.question, until, want.operations, goes_on=True, carries=want.carries)

    async def get(self, question: Question | None, operations: tuple[Operation, ...] = (), carries: Label | None = None) -> Word:
        """Raises TimeoutError when nothing comes of it."""
        want = Want(question, asyncio.get_running_loop().create_future(), operations, carries)
        await self.questions.put(want)
        word = await want.answer
        if word.is_expired:
            raise TimeoutError
        return word

    def end(self) -> None:
        self.task.cancel()
        self.task.add_done_callback(_heard)


async def _nobody(words: str) -> None:
    return


@dataclass(slots=True)
class Talks:
    redactor: Redactor | None = None
    tell: Tell = _nobody
    _talks: dict[str, Talk] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def run(self, server: str, call: Call, timeout_s: float, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result | Pending:
        """Raises ToolFailed. `timeout_s` is for the server: while the owner thinks, nobody counts."""
        handle = f"mcp:{server}:{next(self._numbers)}"

        async def worked() -> Result:
            OF_CALL.set(handle)
            return await work()

        talk = Talk(server, call, handle, asyncio.create_task(worked()))
        self._talks[handle] = talk
        return await self._until(talk, timeout_s)

    async def go_on(self, handle: str, word: Word, timeout_s: float) -> Result | Pending:
        talk = self._talks.get(handle)
        if talk is None or talk.open is None or talk.open.answer.done():
            raise ToolFailed("gone", "the server was gone before the answer; the call may or may not have taken effect")
        asked, talk.open = talk.open, None
        asked.answer.set_result(word)
        return await self._until(talk, timeout_s)

    async def watch(self, feed: Feed) -> None:
        """Ends the calls of turns that are over."""
        with feed.subscribe() as updates:
            async for update in updates:
                if isinstance(update, Changed) and update.ending is not None:
                    self.end(update.turn)

    def end(self, turn: TurnId) -> None:
        for talk in [each for each in self._talks.values() if str(each.call.key).startswith(f"{turn}:")]:
            self._drop(talk)

    def close(self) -> None:
        for talk in list(self._talks.values()):
            self._drop(talk)

    def elicit(self, server: str) -> "ElicitationFnT":
        async def asked(context: "ClientRequestContext", params: "types.ElicitRequestParams") -> "types.ElicitResult | types.ErrorData":
            import mcp_types as types

            try:
                given = await self._asked(self.talk(server), params)
            except BadInput as refused:
                await self.tell(f"The MCP server {server} asked you something that was declined for you: {refused}.")
                return types.ElicitResult(action="decline")
            except TimeoutError:
                return types.ElicitResult(action="cancel")
            if given is None:
                return types.ElicitResult(action="decline")
            return types.ElicitResult(action="accept", content=given if params.mode == "form" else None)  # type: ignore[arg-type]

        return asked

    async def _until(self, talk: Talk, timeout_s: float) -> Result | Pending:
        """Its result, or its next question."""
        asking = asyncio.ensure_future(talk.questions.get())
        try:
            await asyncio.wait((talk.task, asking), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if talk.task.done():
                self._talks.pop(talk.handle, None)
                return talk.task.result()
            if asking.done():
                talk.open = asking.result()
                return talk.pending(talk.open)
            raise ToolFailed("timeout", f"the server {talk.server}: it gave no answer within {timeout_s:g} s", retryable=True)
        except BaseException:
            self._drop(talk)
            raise
        finally:
            asking.cancel()

    def _drop(self, talk: Talk) -> None:
        """A server that waits for an answer hears that none comes, by the end of its call."""
        self._talks.pop(talk.handle, None)
        if talk.open is not None and not talk.open.answer.done():
            talk.open.answer.cancel()
        talk.end()

    def talk(self, server: str) -> Talk:
        """For which call it asks. Raises BadInput where nobody can tell."""
        under_way = [talk for talk in self._talks.values() if talk.server == server and not talk.task.done()]
        if not under_way:
            raise BadInput("it asked while nobody had asked it for anything")
        current = self._talks.get(OF_CALL.get())
        if current is not None and current in under_way:
            return current
        if len({(talk.call.conversation, talk.call.principal) for talk in under_way}) == 1:
            return under_way[-1]
        raise BadInput("it works for several conversations at once, and does not say for which it asks")

    async def _asked(self, talk: Talk, params: "types.ElicitRequestParams") -> dict[str, JsonValue] | None:
        """What the owner gives; None: nothing. Raises BadInput, TimeoutError."""
        if not serves_owner(talk.call.principal):
            raise BadInput("it asked in a turn for somebody else")
        talk.asked_more()
        if params.mode == "url":
            word = await talk.get(forms.page(talk.server, params.message, params.url))
            return {} if word.choice == forms.DONE else None
        if what := forms.secret_in(params.message, params.requested_schema):
            raise BadInput(f"it wants a secret ({what}); a secret goes to a server only by `daimon secrets`, never as an answer")
        return await self._filled(talk, params.message, forms.form_of(params.requested_schema))

    async def _filled(self, talk: Talk, message: str, form: Form) -> dict[str, JsonValue] | None:
        fault = ""
        for _ in range(TRIES):
            word = await talk.get(forms.question(talk.server, message, form, fault))
            said = f"{word.choice}\n{word.text}"
            if self.redactor is not None and self.redactor.clean(said) != said:
                raise BadInput("the answer held a secret, and was not sent")
            try:
                return forms.answer(form, word)
            except BadInput as mended:
                fault = shown(str(mended), 300)
        return None


def _heard(task: "asyncio.Task[Result]") -> None:
    if not task.cancelled():
        task.exception()
