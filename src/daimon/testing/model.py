"""A model that says what a script tells it to, and remembers what it was asked."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.message import Part, Text, ToolCall
from daimon.abi.model import UNMETERED, Delta, Profile, Reply, Request, Unmetered
from daimon.abi.money import Usage

Line = Reply | BaseException | Callable[[Request], "Reply | BaseException"]


NAME = "scripted"


class ScriptedModel(Unmetered):
    """Each call takes the next line: a reply, an error to raise, or a function of the request. After the last line it says `done`."""

    def __init__(self, lines: Iterable[Line] = (), name: str = NAME, profile: Profile = UNMETERED) -> None:
        self._lines = list(lines)
        self._profile = profile
        self.name = name
        self.requests: list[Request] = []

    def add(self, *lines: Line) -> None:
        """What it says after all else."""
        self._lines.extend(lines)

    async def profile(self) -> Profile:
        return self._profile

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.requests.append(request)
        line: Line = self._lines.pop(0) if self._lines else says("done")
        if callable(line) and not isinstance(line, BaseException | Reply):
            line = line(request)
        if isinstance(line, BaseException):
            raise line
        assert isinstance(line, Reply)
        for part in line.parts:
            if isinstance(part, Text):
                yield Delta(part.text)
        yield line


def says(text: str, tokens: int = 0) -> Reply:
    parts: tuple[Part, ...] = (Text(text),) if text else ()
    return Reply(parts, NAME, usage=Usage(output_tokens=tokens))


def calls(*wanted: tuple[str, dict[str, JsonValue]], tokens: int = 0) -> Reply:
    """A reply that asks for these tools, all at once."""
    parts = tuple(ToolCall(f"call-{i}-{tool}", tool, arguments) for i, (tool, arguments) in enumerate(wanted))
    return replace(says("", tokens), parts=parts, finish="tools")
