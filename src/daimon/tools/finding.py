"""Looking for a tool: the rest of the tools that an agent holds is found by words, so that not every schema stands in every request.

A call tells the names of the best matches with one line on each. The context shows what was found from the next step on, with its schema
(`context/offers.py`). Only what the agent holds can be found, so nobody learns here what others may do, and nothing is granted by it.

Tools are ranked as texts are (BM25), by the words of name, description and arguments; words count without their endings, those of a name
more. Where nothing matches, names alone are told, by group: Daimon's own, and others by the first word of their names.

What a tool that is not Daimon's own says of itself are somebody else's words, and labelled so. Its name is a name, as in the list of tools.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.tool import ArgumentRole, Call, Effect, Manifest, Result, ResultLabel, Tool
from daimon.tools.schema import tool

MOST_FOUND = 8
MOST_LINE = 160
"""Characters of a description, and of the names of arguments."""
MOST_NAMES = 40
"""Of one group."""
OWN = "daimon"
_K, _B, _OF_NAME = 1.2, 0.75, 3
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e)$")

Offered = Callable[[AgentId, PrincipalId], tuple[Manifest, ...]]


def finding_tools(offered: Offered, is_own: Callable[[str], bool]) -> tuple[Tool, ...]:
    """`offered` is what an agent holds in a turn for somebody, and `is_own` which of it is Daimon's own."""

    @tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "tools"), timeout_s=5.0, max_result_bytes=16 * 1024)
    async def find_tools(
        call: Call,
        query: Annotated[str, ArgumentRole.QUERY, "What it should do, or its name. Empty: all names.", Field(max_length=400)] = "",
    ) -> Result:
        """Look for a tool that you need and are not shown here. What it finds you can use at once."""
        held = [each for each in offered(call.agent, call.principal) if each.name != find_tools.manifest.name]
        best = ranked(query, held)[:MOST_FOUND]
        if not best:
            return Result({"names": _grouped(held, is_own)})
        told: dict[str, JsonValue] = {each.name: _told(each) for each in best}
        return Result({"tools": told}, labels={f"/tools/{each.name}": _of(each) for each in best if not is_own(each.name)})

    return (find_tools,)


def ranked(query: str, tools: Sequence[Manifest]) -> list[Manifest]:
    """Those that have a word of the query, the best first; of equals, in their order."""
    texts = [_weights(each) for each in tools]
    mean = sum(text.total() for text in texts) / max(1, len(texts))
    score = [0.0] * len(tools)
    for word in dict.fromkeys(_words(query)):
        having = sum(word in text for text in texts)
        rarity = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for n, text in enumerate(texts):
            often = text[word]
            score[n] += rarity * often * (_K + 1) / (often + _K * (1 - _B + _B * text.total() / mean)) if often else 0.0
    order = sorted(range(len(tools)), key=lambda n: -score[n])
    return [tools[n] for n in order if score[n] > 0]


def _weights(manifest: Manifest) -> "Counter[str]":
    found = Counter(_words(f"{manifest.description} {' '.join(_arguments(manifest))}"))
    found.update(_words(" ".join([manifest.name] * _OF_NAME)))
    return found


def _words(text: str) -> list[str]:
    return [_ENDING.sub("", word) for word in _WORD.findall(text.lower())]


def _arguments(manifest: Manifest) -> Iterable[str]:
    properties = manifest.parameters.get("properties")
    return properties if isinstance(properties, dict) else ()


def _told(manifest: Manifest) -> str:
    line = " ".join(manifest.description.split())
    return f"{_cut(line)} ({_cut(', '.join(_arguments(manifest)))})"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LINE else text[: MOST_LINE - 1] + "…"


def _of(manifest: Manifest) -> Label:
    return Label.of(Origin(Author.STRANGER, manifest.told_by))


def _grouped(tools: Iterable[Manifest], is_own: Callable[[str], bool]) -> dict[str, JsonValue]:
    groups: dict[str, list[str]] = {}
    for each in tools:
        groups.setdefault(OWN if is_own(each.name) else each.name.partition("_")[0], []).append(each.name)
    return {group: _listed(names) for group, names in groups.items()}


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
