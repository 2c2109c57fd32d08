"""Claim: with 100,000 rows, recall takes no more than twice what numpy and FTS5 take by themselves, and a path of 3 edges a millisecond.

Files of many messages, each with a vector of 384 numbers, are asked through `MemoryStore.recall`, as the tool asks (10 of all) and as it is
asked before a model call (200 trusted ones). The vector of a question is there at once: making it is the embedder's time. In the
same run, question by question and in changing order: the least that could answer (`lab/searches.py`), and sqlite-vec, from an environment
of its own. Then whole turns go through the projection into the same files. Paths are asked in a graph of 100,000 nodes and 500,000 edges.

    recall_p50_ms_N, recall_p99_ms_N    with N rows, as the tool asks; pager_p50_ms_N, pager_p99_ms_N: before a model call
    floor_p50_ms_N, vec_p50_ms_N        numpy and one FTS5 query; sqlite-vec and the same query. null: it takes no part
    ratio_floor, ratio_floor_pager      recall by the floor, the median over questions, at 100,000 rows (`--quick`: 10,000)
    ratio_floor_p99                     p99 of recall by p99 of the floor, as the tool asks
    ratio_vec                           what sqlite-vec with FTS5 takes by what recall takes
    insert_per_s                        changes a second through the projection, at 100,000 rows; insert_per_s_N: at others
    ratio_insert                        bare rows with FTS5 a second, by that
    path3_p50_ms                        and path1 to path5; reach and cte: see `lab/graphs.py`; path3_p50_ms_N: by size of the graph

`--quick` has 3,000 and 10,000 rows and a tenth of the graph, which is too little for the claim: no aim is checked.
"""

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# One thread for numpy, as memory itself has it; set before it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from lab import chatter, graphs, hoard, intakes, peers, report
from lab.chatter import Line, Question
from lab.searches import Floor, Ours, Vec

SIZES, GROWN = (10_000, 100_000), 300_000
QUICK_SIZES = (3_000, 10_000)
QUESTIONS, QUICK_QUESTIONS = 300, 60
WARMING = 5
CHANGES = 5_000
AIM_RATIO, AIM_PATH_MS = 2.0, 1.0


@dataclass
class Found:
    """What each took, in milliseconds, question by question."""

    rows: int
    took: dict[str, list[float]] = field(default_factory=dict)
    insert_per_s: float = 0.0
    bare_per_s: float = 0.0
    vec_insert_per_s: float | None = None

    def p(self, what: str, share: float) -> float | None:
        return round(report.percentile(self.took[what], share), 2) if what in self.took else None

    def ratio(self, what: str, by: str) -> float | None:
        """The median over questions: both meet the same noise in one question."""
        if what not in self.took or by not in self.took:
            return None
        return round(report.median([a / b for a, b in zip(self.took[what], self.took[by], strict=True)]), 2)


@dataclass(frozen=True, slots=True)
class Contest:
    ours: Ours
    floor: Floor
    vec: Vec | None

    async def ask(self, question: Question, n: int) -> dict[str, float]:
        """Everybody, each time another one first."""
        took: dict[str, float] = {}
        contestants = [self._tool, self._pager, self._floor]
        for turn in range(len(contestants)):
            took |= await contestants[(n + turn) % len(contestants)](question)
        if "vec_meaning" in took:
            took["vec"] = took.pop("vec_meaning") + took["words"]
        return took

    async def _tool(self, question: Question) -> dict[str, float]:
        return {"recall": await self.ours.tool(question)}

    async def _pager(self, question: Question) -> dict[str, float]:
        return {"pager": await self.ours.pager(question)}

    async def _floor(self, question: Question) -> dict[str, float]:
        words, meaning = self.floor.words(question), self.floor.meaning(question)
        others = {"vec_meaning": self.vec.meaning(question)} if self.vec else {}
        return {"words": words, "meaning": meaning, "floor": words + meaning, **others}


async def measure(folder: Path, rows: int, asked: int, seed: int, changes: int = CHANGES) -> tuple[Found, str]:
    """And why sqlite-vec takes no part, if it does not."""
    found, absent = Found(rows), ""
    said, meant = list(chatter.lines(rows, seed)), chatter.vectors(rows, seed)
    path = folder / f"memory-{rows}.db"
    hoard.fill(path, said, meant)
    vec = None
    try:
        vec = Vec(folder / f"vec-{rows}.db", meant)
        found.vec_insert_per_s = vec.insert_per_s
    except peers.Missing as missing:
        absent = str(missing)
    contest = Contest(await Ours.open(path), Floor(path, meant), vec)
    try:
        for n, question in enumerate(chatter.questions(said, meant, asked + WARMING, seed)):
            for what, took in (await contest.ask(question, n)).items():
                if n >= WARMING:
                    found.took.setdefault(what, []).append(took)
    finally:
        await contest.ours.store.close()
        contest.floor.close()
        if vec:
            vec.close()
    _insert(folder, path, found, seed, changes)
    return found, absent


def _insert(folder: Path, path: Path, found: Found, seed: int, changes: int) -> None:
    new: list[Line] = list(chatter.lines(changes * 2 // 3, seed + 1))
    found.insert_per_s = round(intakes.projected_per_s(path, new))
    found.bare_per_s = round(intakes.bare_per_s(folder / f"bare-{found.rows}.db", new))
    for used in folder.glob(f"*-{found.rows}.db*"):
        used.unlink()


def figures(found: list[Found], main: Found, graph: dict[str, float]) -> dict[str, Any]:
    p99 = main.p("recall", 0.99), main.p("floor", 0.99)
    fields: dict[str, Any] = {
        "recall_p99_ms_100k": next((each.p("recall", 0.99) for each in found if each.rows == SIZES[-1]), None),
        "ratio_floor": main.ratio("recall", "floor"),
        "ratio_floor_pager": main.ratio("pager", "floor"),
        "ratio_floor_p99": round(p99[0] / p99[1], 2) if p99[0] and p99[1] else None,
        "ratio_vec": main.ratio("vec", "recall"),
        "insert_per_s": main.insert_per_s,
        "ratio_insert": round(main.bare_per_s / main.insert_per_s, 2),
        "path3_p50_ms": graph["path3_p50_ms"],
    }
    for each in found:
        size = f"{each.rows // 1000}k"
        for what in ("recall", "pager", "floor", "vec"):
            fields |= {f"{what}_p50_ms_{size}": each.p(what, 0.5), f"{what}_p99_ms_{size}": each.p(what, 0.99)}
        fields |= {f"insert_per_s_{size}": each.insert_per_s, f"vec_insert_per_s_{size}": each.vec_insert_per_s}
    return fields | graph


def aims(fields: dict[str, Any]) -> dict[str, bool]:
    return {
        f"recall takes at most {AIM_RATIO:g} times what numpy and FTS5 take, as the tool asks": fields["ratio_floor"] <= AIM_RATIO,
        "and as it is asked before a model call": fields["ratio_floor_pager"] <= AIM_RATIO,
        f"a path of 3 edges in less than {AIM_PATH_MS:g} ms": fields["path3_p50_ms"] < AIM_PATH_MS,
    }


def show(found: list[Found], absent: str) -> None:
    names = {
        "recall": "recall, 10 of all", "pager": "recall, 200 trusted", "floor": "numpy and FTS5", "meaning": "  numpy", "words": "  FTS5",
        "vec": "sqlite-vec and FTS5",
    }  # fmt: skip
    head = ("ms", *(f"{share}, {each.rows:,} rows" for each in found for share in ("p50", "p99")))
    report.table(
        head,
        [
            (name, *(each.p(what, share) if what in each.took else "–" for each in found for share in (0.5, 0.99)))
            for what, name in names.items()
        ],
    )
    rows = [(f"{each.rows:,} rows", each.insert_per_s, each.bare_per_s, each.vec_insert_per_s or "–") for each in found]
    report.table(("a second", "changes, projected", "bare rows with FTS5", "vectors, sqlite-vec"), rows)
    if absent:
        print(f"sqlite-vec takes no part: {absent}\n")


async def main() -> int:
    asked = report.options(__doc__)
    sizes = QUICK_SIZES if asked.quick else (*SIZES, GROWN)
    found: list[Found] = []
    with tempfile.TemporaryDirectory(prefix="daimon-memory-") as place:
        for rows in sizes:
            each, absent = await measure(Path(place), rows, QUICK_QUESTIONS if asked.quick else QUESTIONS, asked.seed)
            found.append(each)
        fewer = 10 if asked.quick else 1
        graph = graphs.measured(Path(place) / "graph.db", graphs.NODES // fewer, graphs.EDGES // fewer)
        if not asked.quick:
            graph |= graphs.growth(Path(place))
    show(found, absent)
    fields = figures(found, next((each for each in found if each.rows == SIZES[-1]), found[-1]), graph)
    return report.finish(asked, fields, aims=None if asked.quick else aims(fields))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
