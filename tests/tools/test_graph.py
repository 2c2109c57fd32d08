from dataclasses import replace
from typing import Any

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import OWNER, PrincipalId, SpaceId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Answered, Edge, Relate, Unrelate
from daimon.abi.tool import Call, Result, Tool
from daimon.memory.graph import limits
from daimon.testing.memory import FakeMemory
from daimon.tools.graph import graph_tools

STRANGER = Label.of(Origin(Author.STRANGER, "web:evil.example"), readers=(OWNER,))
ANNA = ["Person", "Anna", "WORKS_AT", "Company", "Acme"]
EDGE = Edge(("Person", "Anna"), "WORKS_AT", ("Company", "Acme"))


class Related(FakeMemory):
    async def ask_graph(self, space: SpaceId, principal: PrincipalId, query: str) -> Answered:
        return Answered(("b",), (("Acme",),), STRANGER, is_cut=True)


def tools(memory: FakeMemory) -> dict[str, Tool]:
    return {each.manifest.name: each for each in graph_tools(memory, limits.check)}


async def run(tool: Tool, arguments: dict[str, Any], call: Call) -> Result:
    result = await tool.run(arguments, call)
    assert isinstance(result, Result)
    return result


async def test_relating_takes_effect_with_the_outcome_under_the_label_of_the_call(memory: FakeMemory, call: Call) -> None:
    relate = tools(memory)["relate"]
    result = await run(relate, {"edges": [ANNA]}, replace(call, label=STRANGER))
    assert (result.operations, result.labels) == ((Relate(edges=(EDGE,)),), {"": STRANGER})
    assert (await run(relate, {"edges": [ANNA], "are_over": True}, call)).operations == (Unrelate(edges=(EDGE,)),)


@pytest.mark.parametrize("edge", [["Person", "Anna", "works at", "Company", "Acme"], ["Per son", *ANNA[1:]], [*ANNA[:4], "\0"]])
async def test_what_the_graph_cannot_keep_is_refused_before_it_is_recorded(memory: FakeMemory, call: Call, edge: list[str]) -> None:
    with pytest.raises(ToolFailed) as refused:
        await tools(memory)["relate"].run({"edges": [ANNA, edge]}, call)
    assert refused.value.reason == "bad_edge"


async def test_an_answer_carries_the_label_of_what_is_behind_it(call: Call) -> None:
    result = await run(tools(Related())["ask_graph"], {"query": "MATCH (b) RETURN b"}, call)
    assert result == Result({"columns": ["b"], "rows": [["Acme"]], "is_cut": True}, labels={"": STRANGER})


async def test_a_wrong_query_is_explained_to_the_model(memory: FakeMemory, call: Call) -> None:
    with pytest.raises(ToolFailed, match="no graph"):
        await tools(memory)["ask_graph"].run({"query": "MATCH"}, call)


def test_both_are_rare(memory: FakeMemory) -> None:
    assert all(tool.manifest.is_rare for tool in tools(memory).values())
