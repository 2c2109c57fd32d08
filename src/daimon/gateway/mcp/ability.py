"""What can be asked for at `/mcp`, as data: one entry is one tool of the protocol.

An ability says what it takes, what it answers, which right it needs and what it does. From that come its schema, its place in the list of
those who have the right (for others it is not there) and the checks of a call. It knows nothing of the protocol.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError

from daimon.abi.access import Right
from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput
from daimon.abi.plain import fault
from daimon.gateway.mcp.party import Party

Progress = Callable[[int, str], Awaitable[None]]
"""So many things happened; what the last one was."""


@dataclass(frozen=True, slots=True)
class Ability:
    name: str
    title: str
    summary: str
    takes: Any
    answers: Any
    needs: Right
    does: Callable[[Party, Any, Progress], Awaitable[object]]
    is_read_only: bool = False

    def read(self, arguments: JsonValue) -> object:
        """The arguments as their type. Raises BadInput."""
        if wrong := fault(arguments):
            raise BadInput(f"{self.name}: {wrong}")
        try:
            return adapter(self.takes).validate_python(arguments)
        except ValidationError as broken:
            first = broken.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInput(f"{self.name}: {f'{place}: ' if place else ''}{first['msg'].removeprefix('Value error, ')}") from None

    def schema(self) -> dict[str, Any]:
        return _plain(adapter(self.takes).json_schema())

    def shape(self) -> dict[str, Any]:
        """Of what it answers."""
        return _plain(adapter(self.answers).json_schema(mode="serialization"))


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the name of our class, which says nothing to a model."""
    return {name: value for name, value in schema.items() if name != "title"}
