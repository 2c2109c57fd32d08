"""Which tools a request shows: what is always there, what comes up, in which order, within which room."""

from dataclasses import replace

from tests.journal.world import event

from daimon.abi.context import Entry
from daimon.abi.ids import TurnId
from daimon.abi.tool import Effect, Manifest
from daimon.context.budget import TokenBudget
from daimon.context.entries import FINDS, entry
from daimon.context.offers import FOUND_SHARE, LEAST_FOUND, Offers, mentions, steady
from daimon.context.render import from_event
from daimon.context.tokens import of_tool
from daimon.testing.clock import START
from daimon.tools.finding import finding_tools

PLENTY = TokenBudget(64_000)


def tool(name: str, is_rare: bool = False, words: int = 20) -> Manifest:
    return Manifest(name=name, description="word " * words, parameters={"type": "object"}, effect=Effect.PURE, is_rare=is_rare)


FINDER = finding_tools(lambda *_: (), lambda name: True)[0].manifest


def came_up(*names: str) -> Entry:
    return replace(entry("t1:2", "result", TurnId("t1"), START, from_event(event("x"))), shows=names)


def shown(tools: tuple[Manifest, ...], *entries: Entry, budget: TokenBudget = PLENTY) -> list[str]:
    return [each.name for each in Offers().of(tools, budget).shown(mentions(entries))]


def test_the_tool_that_finds_tools_is_known_by_its_name() -> None:
    assert FINDER.name == FINDS


def test_what_is_not_rare_is_shown_in_its_order_and_what_is_rare_is_not() -> None:
    assert shown((tool("a"), FINDER, tool("b", is_rare=True), tool("c"))) == ["a", FINDS, "c"]


def test_where_nothing_is_hidden_there_is_nothing_to_look_with() -> None:
    assert shown((tool("a"), FINDER, tool("c"))) == ["a", "c"]


def test_an_agent_that_cannot_look_for_tools_is_shown_all_of_them() -> None:
    assert shown((tool("a"), tool("b", is_rare=True)), budget=TokenBudget(1_000, 0, 0, 0)) == ["a", "b"]


def test_what_came_up_is_shown_at_the_end_in_the_order_in_which_it_did() -> None:
    tools = (tool("a"), tool("b", is_rare=True), tool("c", is_rare=True), FINDER, tool("z"))
    assert shown(tools, came_up("c"), came_up("a", "b"), came_up("c")) == ["a", FINDS, "z", "c", "b"]


def test_what_the_agent_does_not_hold_does_not_come_up() -> None:
    assert shown((tool("a"), FINDER, tool("b", is_rare=True)), came_up("elsewhere", FINDS, "b")) == ["a", FINDS, "b"]


def test_three_hundred_tools_fit_into_the_room_for_tools() -> None:
    own, others = (tool("zz_own"), FINDER), tuple(tool(f"mcp_{n:03}", words=60) for n in range(300))
    offer = Offers().of((*own, *others), PLENTY)
    always = offer.shown({})
    assert sum(map(of_tool, always)) <= PLENTY.most_tools
    assert [each.name for each in always[:3]] == ["zz_own", FINDS, "mcp_000"]
    every = offer.shown(mentions([came_up(*(each.name for each in others))]))
    assert every[: len(always)] == always
    assert len(every) > len(always)
    assert sum(map(of_tool, every)) <= PLENTY.most_tools + PLENTY.most_tools // FOUND_SHARE


def test_when_too_many_came_up_those_of_long_ago_give_way() -> None:
    tools = (FINDER, *(tool(f"rare_{n}", is_rare=True, words=100) for n in range(20)))
    few = LEAST_FOUND // of_tool(tools[1])
    found = shown(tools, *(came_up(f"rare_{n}") for n in range(20)), came_up("rare_3"), budget=TokenBudget(1_000))
    assert 1 < few < 10
    assert found == [FINDS, "rare_3", *(f"rare_{n}" for n in range(21 - few, 20))]


def test_a_tool_that_does_not_fit_does_not_keep_out_those_that_do() -> None:
    tools = (tool("a"), tool("b", words=20_000), tool("c"), FINDER)
    assert shown(tools) == ["a", "c", FINDS]


def test_a_window_that_moves_a_little_does_not_move_tools() -> None:
    assert len({steady(TokenBudget(window)) for window in range(9_000, 10_000)}) == 1
    assert steady(TokenBudget(64_000)) == TokenBudget(64_000).most_tools
    for window in range(1_000, 32_000, 7):
        assert 0.75 * (window // 4) <= steady(TokenBudget(window)) <= window // 4


def test_between_conversations_that_know_different_tools_nothing_is_mixed_up() -> None:
    offer = Offers().of((tool("a"), FINDER, tool("b", is_rare=True)), PLENTY)
    lists = [[each.name for each in offer.shown(mentions(entries))] for entries in ([came_up("b")], [], [came_up("b")], [])]
    assert lists == [["a", FINDS, "b"], ["a", FINDS]] * 2
