"""A large graph of calls, made by `relate` as the agent would make it, and how long paths through it take.

100,000 functions, 500,000 calls. Callers call about as many each; the called are a few hubs and many others, as in code. The same seed
gives the same graph. Questions go through `ask`, as text, parsing and label and all; beside each stands a recursive CTE on the same tables
that answers the bare question, without validity, labels or rows to show: what SQLite alone would take. Ends of paths are chosen so that
there is a path of so many calls, from all over the graph; hubs are among them as often as chance has it.
"""

import json
import random
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.abi.memory import Edge, Node, Relate
from daimon.memory.graph import schema
from daimon.memory.graph.ask import Bounds, ask
from daimon.memory.graph.rows import relate
from daimon.memory.receipt import Receipt

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)
NODES = 100_000
EDGES = 500_000
HOPS = (1, 2, 3, 4, 5)
_BATCH = 1_000

_CTE = """
    WITH RECURSIVE walk (n, depth) AS (
        SELECT n, 0 FROM nodes WHERE space = ?1 AND principal = ?2 AND name = ?3 AND ended_at IS NULL
        UNION SELECT dst, depth + 1 FROM walk JOIN edges ON src = walk.n AND type = 'CALLS' AND edges.ended_at IS NULL WHERE depth < ?4
    ) SELECT count(DISTINCT n) FROM walk WHERE depth > 0
"""


def operations(nodes: int, edges: int, seed: int = 7) -> Iterator[Relate]:
    """The graph, in the pieces in which it is written."""
    chance = random.Random(seed)
    for i in range(0, nodes, _BATCH):
        yield Relate(nodes=tuple(Node("Function", f"f{n}", {"line": n % 997}) for n in range(i, min(i + _BATCH, nodes))))
    for i in range(0, edges, _BATCH):
        yield Relate(edges=tuple(_call(chance, nodes) for _ in range(i, min(i + _BATCH, edges))))


def _call(chance: random.Random, nodes: int) -> Edge:
    called = int(nodes * chance.random() ** 3)
    return Edge(("Function", f"f{chance.randrange(nodes)}"), "CALLS", ("Function", f"f{called}"))


def written(path: Path, nodes: int = NODES, edges: int = EDGES) -> apsw.Connection:
    """A memory file with nothing but such a graph."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA cache_size = -16000")
    connection.execute(schema.TABLES)
    for i, operation in enumerate(operations(nodes, edges)):
        with connection:
            relate(connection, Receipt(HOME_SPACE, OWNER, f"t:{i}", "t", owned("terminal"), NOON), operation)
    return connection


def measured(path: Path, nodes: int = NODES, edges: int = EDGES, samples: int = 100) -> dict[str, float]:
    """`pathN_p50_ms` between two ends within N calls, `reachN_p50_ms` from one end, `cteN_p50_ms`; how fast it was written, how large."""
    begun = time.perf_counter()
    connection = written(path, nodes, edges)
    took = time.perf_counter() - begun
    try:
        found: dict[str, float] = {"graph_rows_per_s": round((nodes + edges) / took)}
        for hops in HOPS:
            found |= _hops(connection, nodes, hops, samples if hops < 4 else max(samples // 4, 1))
    finally:
        connection.close()
    return found | {"graph_mb": round(path.stat().st_size / 1e6, 1)}


def growth(folder: Path, sizes: tuple[int, ...] = (10_000, 30_000, 100_000), samples: int = 40) -> dict[str, float]:
    """`path3_p50_ms_N` in graphs of N nodes and five times as many edges."""
    found = {}
    for size in sizes:
        connection = written(folder / f"graph-{size}.db", size, 5 * size)
        found[f"path3_p50_ms_{size}"] = _hops(connection, size, 3, samples)["path3_p50_ms"]
        connection.close()
    return found


def _hops(connection: apsw.Connection, nodes: int, hops: int, samples: int) -> dict[str, float]:
    ends = list(_ends(connection, nodes, hops, samples))
    calls = f"[:CALLS*1..{hops}]"
    path = [f'MATCH path = (a:Entity {{name: "{a}"}})-{calls}->(b:Entity {{name: "{b}"}}) RETURN path LIMIT 1' for a, b in ends]
    reach = [f'MATCH (a:Entity {{name: "{a}"}})-{calls}->(b) RETURN count(DISTINCT b)' for a, _ in ends]
    times: dict[str, list[float]] = {"path": [], "reach": [], "cte": []}
    for (a, _), between, onward in zip(ends, path, reach, strict=True):
        answer, took = _asked(connection, between)
        assert len(answer) == 1, between
        times["path"].append(took)
        (counted,), took = _asked(connection, onward)
        times["reach"].append(took)
        begun = time.perf_counter()
        plain = connection.execute(_CTE, (HOME_SPACE, OWNER, a, hops)).get
        times["cte"].append((time.perf_counter() - begun) * 1000)
        assert counted == (plain,), onward
    return {f"{what}{hops}_{at}_ms": value for what, took in times.items() for at, value in _shares(took)}


def _asked(connection: apsw.Connection, query: str) -> tuple[tuple[tuple[object, ...], ...], float]:
    begun = time.perf_counter()
    answer = ask(connection, HOME_SPACE, OWNER, query, NOON, Bounds(timeout_s=60, most_matches=10_000_000))
    return answer.rows, (time.perf_counter() - begun) * 1000


def _shares(took: list[float]) -> list[tuple[str, float]]:
    return [("p50", round(statistics.median(took), 3)), ("max", round(max(took), 3))]


def _ends(connection: apsw.Connection, nodes: int, hops: int, samples: int) -> Iterator[tuple[str, str]]:
    """Names of functions, the second exactly so many calls after the first on some walk of different functions."""
    chance = random.Random(hops)
    while samples:
        walk = [chance.randrange(nodes) + 1]
        for _ in range(hops):
            onward = connection.execute("SELECT dst FROM edges WHERE src = ? AND ended_at IS NULL", (walk[-1],)).fetchall()
            onward = [n for (n,) in onward if n not in walk]
            if not onward:
                break
            walk.append(chance.choice(onward))
        else:
            samples -= 1
            first, last = (connection.execute("SELECT name FROM nodes WHERE n = ?", (n,)).get for n in (walk[0], walk[-1]))
            yield str(first), str(last)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(Path(folder) / "graph.db") | growth(Path(folder))))
