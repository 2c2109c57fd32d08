"""Which of an agent's tools a request shows. Pure: tools, entries and room in, tools out.

Schemas cost tokens in every request, so they are paged like everything else. Always shown is what is not rare and fits into the room for
tools, in the order of the registry: Daimon's own by name, then others by name. What does not fit counts as rare. What is rare is hidden
until the model looks for it (`find_tools`) or calls it by its name; it is then shown as long as that stands in the window, after all that
is always shown and in the order in which it came up. So the bytes before it stay, and the list only changes when a tool comes up or the
window is cut. `find_tools` is only there if something is hidden, and an agent that does not hold it has nothing hidden from it.

Nothing here is a permission. What an agent holds was decided before, and a hidden tool that it calls goes through the gate like any other.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from daimon.abi.context import Entry
from daimon.abi.tool import Manifest
from daimon.context.budget import TokenBudget
from daimon.context.entries import FINDS
from daimon.context.tokens import of_tool

FOUND_SHARE = 2
"""One part in so many of the room for tools is added to it for those that were found."""
LEAST_FOUND = 600
"""However small that room: one tool of ordinary size can be shown when it was found."""
MOST_KEPT = 64


class Offers:
    """Keeps what was worked out, by the very objects that it was worked out of: manifests do not change."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, ...], Offer] = OrderedDict()

    def of(self, tools: tuple[Manifest, ...], budget: TokenBudget) -> "Offer":
        most = steady(budget)
        key = (most, *map(id, tools))
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = Offer(tools, most)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept


class Offer:
    """The tools of one agent in one size of window."""

    def __init__(self, tools: tuple[Manifest, ...], most: int) -> None:
        self._tools = tools  # also so that they live as long as their ids are a key
        self._most = most
        self._always = always(tools, most)
        names = {tool.name for tool in self._always}
        self._hidden = {tool.name: tool for tool in tools if tool.name not in names and tool.name != FINDS}

    def shown(self, mentions: Mapping[str, int]) -> tuple[Manifest, ...]:
        """`mentions` are the tools that came up in the window, in the order in which they did, with where they last did."""
        return (*self._always, *found(mentions, self._hidden, self._most)) if self._hidden else self._always


def always(tools: tuple[Manifest, ...], most: int) -> tuple[Manifest, ...]:
    """What is shown in every request, within so many tokens."""
    finder = next((tool for tool in tools if tool.name == FINDS), None)
    if finder is None:
        return tools
    others = tuple(tool for tool in tools if tool is not finder)
    if not any(tool.is_rare for tool in others) and sum(map(of_tool, others)) <= most:
        return others
    left, kept = most - of_tool(finder), {FINDS}
    for tool in others:
        if not tool.is_rare and (size := of_tool(tool)) <= left:
            kept.add(tool.name)
            left -= size
    return tuple(tool for tool in tools if tool.name in kept)


def mentions(entries: Iterable[Entry]) -> dict[str, int]:
    """The tools that came up in these, in the order in which they did, with where they last did."""
    last: dict[str, int] = {}
    for n, entry in enumerate(entries):
        last.update((name, n) for name in entry.shows)
    return last


def found(mentions: Mapping[str, int], hidden: Mapping[str, Manifest], most: int) -> tuple[Manifest, ...]:
    """Hidden tools that came up, the first first. Where there are too many, those go whose last mention is longest ago."""
    last = {name: n for name, n in mentions.items() if name in hidden}
    left, kept = max(most // FOUND_SHARE, LEAST_FOUND), set()
    for name in sorted(last, key=lambda name: -last[name]):
        if (size := of_tool(hidden[name])) <= left:
            kept.add(name)
            left -= size
    return tuple(hidden[name] for name in last if name in kept)


def steady(budget: TokenBudget) -> int:
    """The room for tools. A window that is learned moves a little with every reply, and tools must not come and go with it."""
    most = budget.most_tools
    step = 1 << max(0, most.bit_length() - 3)
    return most if most == budget.tools else most - most % step
