"""A question to the graph, answered.

The text is parsed, planned, matched, and the matches become rows. Nothing of the text becomes SQL: the statements are those of `view.py`.
A question is bounded: in time, in matches, in rows. What was found until then is the answer, and it says that it is cut; a count is then a
lower bound, and an order is one of what was found.

The label of an answer is the join of the labels of all nodes and edges in the matches behind its rows, whether or not they are shown. An
answer without any says nothing in anybody's words.
"""

from datetime import datetime

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Answered
from daimon.memory.graph.collect import Bounds, Collector, Row
from daimon.memory.graph.evaluate import Evaluator
from daimon.memory.graph.match import Matcher
from daimon.memory.graph.parser import parse
from daimon.memory.graph.plan import planned
from daimon.memory.graph.shown import shown
from daimon.memory.graph.view import View

ORDINARY = Bounds()


def ask(
    connection: apsw.Connection, space: SpaceId, principal: PrincipalId, query: str, now: datetime, bounds: Bounds = ORDINARY
) -> Answered:
    """What the query finds in what holds now. Raises BadInput with what is wrong in the query and where."""
    parsed = parse(query)
    plan = planned(query, parsed)
    view = View(connection, space, principal, now, bounds.timeout_s)
    evaluator = Evaluator(query, view, plan.scope)
    collector = Collector(parsed, evaluator, bounds)
    with view:
        collector.run(Matcher(plan, evaluator))
    rows, is_cut = collector.rows()
    cells = tuple(tuple(shown(view, kind, cell) for kind, cell in zip(collector.kinds, row.cells, strict=True)) for row in rows)
    return Answered(tuple(column.name for column in parsed.columns), cells, _label(view, principal, rows), is_cut)


def _label(view: View, principal: PrincipalId, rows: list[Row]) -> Label:
    nodes = set[int]().union(*(row.nodes for row in rows))
    edges = set[int]().union(*(row.edges for row in rows))
    return view.label(nodes, edges) if nodes else Label.of(Origin(Author.SERVICE, "memory:graph"), readers=(principal,))
