"""How things hang together: ask_graph, relate.

Relating is an operation that takes effect with the recorded outcome, under the label that the model was under. Who is not trusted adds to
what the owner said and ends nothing of it. An answer carries the labels of all nodes and edges behind it.
"""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.label import Author
from daimon.abi.memory import Edge, Memory, Relate, Unrelate
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_Edge = Annotated[tuple[str, ...], Field(min_length=5, max_length=5)]


def graph_tools(memory: Memory, check: Callable[[Relate | Unrelate], None]) -> tuple[Tool, ...]:
    """`check` raises BadInput for what the graph cannot keep."""

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "graph"), is_rare=True)
    async def ask_graph(
        call: Call,
        query: Annotated[str, ArgumentRole.QUERY, 'MATCH (a:Person {name: "Anna"})-[r]-(b) RETURN b', Field(min_length=1, max_length=4000)],
    ) -> Result:
        """Ask how people, services, decisions are related. Cypher: MATCH, WHERE, RETURN, ORDER BY, LIMIT; paths -[:CALLS*1..5]->."""
        try:
            found = await memory.ask_graph(call.space, call.principal, query)
        except BadInput as bad:
            raise ToolFailed("bad_query", str(bad)) from bad
        rows: list[JsonValue] = [list(row) for row in found.rows]
        data: dict[str, JsonValue] = {"columns": list(found.columns), "rows": rows}
        return Result(data | ({"is_cut": True} if found.is_cut else {}), labels={"": found.label})

    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "graph"), is_rare=True)
    async def relate(
        call: Call,
        edges: Annotated[
            tuple[_Edge, ...],
            ArgumentRole.CONTENT,
            'Each as kind, name, TYPE, kind, name: ["Person", "Anna", "WORKS_AT", "Company", "Acme"].',
            Field(min_length=1, max_length=50),
        ],
        are_over: Annotated[bool, "They hold no longer."] = False,
    ) -> Result:
        """Keep how things are related, to ask about it with ask_graph."""
        made = tuple(Edge((kind, name), type_, (other, its)) for kind, name, type_, other, its in edges)
        operation = Unrelate(edges=made) if are_over else Relate(edges=made)
        try:
            check(operation)
        except BadInput as bad:
            raise ToolFailed("bad_edge", str(bad)) from bad
        return Result({"edges": len(made)}, operations=(operation,), labels={"": call.label})

    return (ask_graph, relate)
