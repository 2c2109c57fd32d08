"""An extension that says what it must not, in every way that an extension can: for the benchmark of leaks. Told by the environment:

LEAK_TEXTS   a JSON file of texts by name; a call names one, so that no argument holds it
LEAK_SENT    the file that the recording channel writes to
LEAK_CRASH   the name of a text to fail with at the start
"""

import asyncio
import gc
import json
import logging
import os
import threading
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.codec import encode
from daimon.abi.errors import NotSent, ToolFailed
from daimon.abi.event import Address, Said
from daimon.abi.ids import TimerId
from daimon.abi.label import Author
from daimon.abi.memory import Remember
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.abi.tool import ArgumentRole, Call, Effect, Operation, Pending, Question, Result, ResultLabel, Send, SetTimer, Touched
from daimon.extension import Kit
from daimon.tools.schema import tool

_log = logging.getLogger("leaky")


def text_named(name: str) -> str:
    texts: dict[str, str] = json.loads(Path(os.environ["LEAK_TEXTS"]).read_text())
    return texts[name]


def extend(kit: Kit) -> None:
    if name := os.environ.get("LEAK_CRASH"):
        raise RuntimeError(text_named(name))
    kit.tools.append(leak)
    kit.channels.extend([Recorder(), Breaking("breaking", "never"), Breaking("unsent", "harmless")])


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "leaky"))
async def leak(
    call: Call, how: Annotated[str, ArgumentRole.QUERY, "In which way."], text: Annotated[str, ArgumentRole.QUERY, "Which text."]
) -> Result | Pending:
    """Say what must not be said."""
    said = text_named(text)
    match how:
        case "result":
            return Result(said)
        case "nested":
            return Result({"rows": [{"name": "x", "value": [said, {"deep": said}]}], "count": 1})
        case "name of a field":
            return Result({said: 1, "other": {said: [1, 2]}})
        case "part":
            return Result("see the part", parts=(Text(said),))
        case "touched":
            return Result("touched", touched=(Touched("file", said, said), Touched("network", f"GET example.org/{said}", "passed")))
        case "question":
            return Pending(call.key, Question(f"Is it {said}?", (said[:60], "no"), details={"why": said}))
        case "handle":
            return Pending(said[:200], Question("Which one?", ("this", "that")))
        case _ if how in _OPERATIONS:
            return Result("done", operations=(_operation(how, said, call),))
        case _:
            return _failed(how, said)


_OPERATIONS = ("send", "remember", "timer")


def _operation(how: str, said: str, call: Call) -> Operation:
    if how == "send":
        return Send(Address("recorder", call.conversation.name), (Text(said),))
    if how == "remember":
        return Remember(said, f"note-{call.key}")
    return SetTimer(TimerId(f"timer-{call.key}"), call.now + timedelta(days=300), said)


def _failed(how: str, said: str) -> Result:
    if how in _ASIDE:
        _ASIDE[how](said)
        return Result("done")
    match how:
        case "error":
            raise ToolFailed("wrong", f"the service said {said}")
        case "code of an error":
            raise ToolFailed(said[:60], "see the code")
        case "crash with a cause":
            raise RuntimeError("outer") from ValueError(said)
        case _:
            raise RuntimeError(f"unexpected {said}")


def _log_error(said: str) -> None:
    try:
        raise ValueError(said)
    except ValueError:
        _log.exception("failed")


def _thread(said: str) -> None:
    thread = threading.Thread(target=_break, args=(said,))
    thread.start()
    thread.join()


def _finaliser(said: str) -> None:
    _Unclean(said)
    gc.collect()


_ASIDE: dict[str, Callable[[str], object]] = {
    "log": lambda said: _log.warning("a request with %s", said),
    "log of an error": _log_error,
    "thread": _thread,
    "warning": lambda said: warnings.warn(said, stacklevel=1),
    "finaliser": _finaliser,
    "task": lambda said: asyncio.get_running_loop().create_task(_broken(said), name="lost"),
    "callback": lambda said: asyncio.get_running_loop().call_soon(_break, said),
}
"""Past the call that does it."""


def _break(said: str) -> None:
    raise RuntimeError(said)


async def _broken(said: str) -> None:
    raise RuntimeError(said)


class _Unclean:
    def __init__(self, said: str) -> None:
        self.said = said

    def __del__(self) -> None:
        raise RuntimeError(self.said)


class _Mute:
    """Nobody answers there."""

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        return (Piece((encode(Said, message.content) if isinstance(message.content, Said) else b"{}").decode()),)

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        return

    async def serve(self, reception: Reception) -> None:
        await asyncio.Event().wait()


class Recorder(_Mute):
    name = "recorder"
    traits = Traits("harmless")

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        line = {"to": to, "key": key, "body": piece.text}
        with Path(os.environ["LEAK_SENT"]).open("a") as file:  # noqa: ASYNC230 - one line
            file.write(json.dumps(line) + "\n")
        return Receipt("confirmed")


class Breaking(_Mute):
    """Fails with what it must not say."""

    def __init__(self, name: str, repeat: Literal["harmless", "never"]) -> None:
        self.name = name
        self.traits = Traits(repeat)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        said = text_named("plain")
        raise RuntimeError(f"cannot send: {said}") if self.traits.repeat == "never" else NotSent(f"cannot send: {said}")
