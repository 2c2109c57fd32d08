"""What stands at the beginning of every request, the system text and the tools: cleaned, encoded and counted once."""

from collections import OrderedDict
from dataclasses import dataclass, replace

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import encode
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.message import Message
from daimon.abi.secret import Redactor
from daimon.abi.tool import Manifest
from daimon.context.tokens import estimate, of_tool

MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Fixed:
    system: Message
    tools: tuple[Manifest, ...]
    chunks: tuple[bytes, bytes]
    system_tokens: int
    tools_tokens: int
    label: Label
    """Of the system text, and of what tools say of themselves."""


class Beginnings:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept: OrderedDict[tuple[int, ...], tuple[Message, Fixed]] = OrderedDict()

    def of(self, system: Message, tools: tuple[Manifest, ...]) -> Fixed:
        """By which objects these are, and they are kept with it, so that no other can take their place."""
        key = (self._redactor.version, id(system), *map(id, tools))
        if key not in self._kept:
            self._kept[key] = system, self._made(system, tools)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key][1]

    def _made(self, system: Message, tools: tuple[Manifest, ...]) -> Fixed:
        shown = replace(system, parts=cleaned(system.parts, self._redactor.clean))
        chunks = encode(Message, shown), encode(tuple[Manifest, ...], tools)
        label = join({system.label, *(_of(tool) for tool in tools if tool.author is not Author.SERVICE)})
        return Fixed(shown, tools, chunks, estimate(shown), sum(map(of_tool, tools)), label)


def _of(tool: Manifest) -> Label:
    return Label.of(Origin(tool.author, tool.told_by))
