"""Claim: what was said is found again: of the turns that hold the answer to a question, four in five are among the ten best.

Each dialogue of a file in the format of LoCoMo goes through a journal into a memory of its own; every question is asked through the
public recall. A figure is the mean, over questions, of the share of evidence turns that were found; categories 1 to 4 count, adversarial
questions are shown apart. In the same run: BM25 over bare turns, and reciprocal rank fusion as textbooks have it.

    r_at_5, r_at_10, r_at_20          of recall, in percent
    in_window_4k, _8k, _16k           the share of evidence that stands in the request of the context manager (`lab/window.py`)
    bm25_r_at_10, rrf60_r_at_10       of what it is compared with
    questions                         that count

The data is not part of this checkout: `--data FILE`, else `../shared/data/locomo-dev.json` beside it. `--words` does without vectors.
`--quick` takes the first dialogue.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from lab import report
from lab.dialogues import CATEGORIES, COUNTED, Dialogue, Question, load
from lab.process import CHECKOUT
from lab.remembered import remembered
from lab.rivals import Bm25, Textbook
from lab.window import SIZES, Windows

from daimon.abi.memory import Embedder
from daimon.machine.clock import SystemClock
from daimon.memory.embedding.process import LocalEmbedder
from daimon.memory.embedding.weights import missing

DATA = CHECKOUT / "../shared/data/locomo-dev.json"
DEPTHS = (5, 10, 20)
AIM_RECALL, AIM_WINDOW = 80.0, 90.0
RIVALS = ("bm25", "rrf60")
UNUSABLE = 69


@dataclass
class Found:
    """Shares of evidence, one for each question: by method and depth, in order of `questions`."""

    questions: list[Question] = field(default_factory=list)
    shares: dict[str, list[float]] = field(default_factory=dict)

    def note(self, what: str, question: Question, there: Iterable[str]) -> None:
        self.shares.setdefault(what, []).append(len(question.evidence & set(there)) / len(question.evidence))

    def percent(self, what: str, *categories: int) -> float:
        pairs = zip(self.questions, self.shares[what], strict=True)
        counted = [share for question, share in pairs if question.category in categories]
        return round(100 * fmean(counted), 1) if counted else 0.0


async def measure(dialogue: Dialogue, folder: Path, embedder: Embedder | None) -> Found:
    found, ids = Found(list(dialogue.questions)), [line.id for line in dialogue.lines]
    rivals: dict[str, Bm25 | Textbook] = {"bm25": Bm25([line.words for line in dialogue.lines])}
    if embedder:
        rivals["rrf60"] = await Textbook.of(dialogue, embedder)
    async with remembered(dialogue, folder, embedder) as memory:
        windows = await Windows.of(dialogue, memory.store)
        for question in dialogue.questions:
            note(found, "recall", question, [item.id for item in await memory.recall(question.text, max(DEPTHS))])
            for name, tokens in SIZES.items():
                found.note(name, question, await windows.there(question, tokens))
            for name, rival in rivals.items():
                note(found, name, question, [ids[n] for n in rival.rank(question.text)[: max(DEPTHS)]])
    return found


def note(found: Found, name: str, question: Question, ranked: Sequence[str]) -> None:
    for depth in DEPTHS:
        found.note(f"{name}@{depth}", question, ranked[:depth])


def together(found: Iterable[Found]) -> Found:
    all_ = Found()
    for each in found:
        all_.questions += each.questions
        for what, shares in each.shares.items():
            all_.shares.setdefault(what, []).extend(shares)
    return all_


def figures(found: Found) -> dict[str, Any]:
    return {
        **{f"r_at_{depth}": found.percent(f"recall@{depth}", *COUNTED) for depth in DEPTHS},
        **{f"in_window_{size}": found.percent(size, *COUNTED) for size in SIZES},
        **{f"{rival}_r_at_10": found.percent(f"{rival}@10", *COUNTED) for rival in RIVALS if f"{rival}@10" in found.shares},
        "questions": sum(question.category in COUNTED for question in found.questions),
    }


def aims(fields: dict[str, Any]) -> dict[str, bool]:
    return {
        f"{AIM_RECALL:g} % of the evidence among the ten best": fields["r_at_10"] >= AIM_RECALL,
        f"{AIM_WINDOW:g} % of the evidence in a window of 8k tokens": fields["in_window_8k"] >= AIM_WINDOW,
        "better than BM25 and textbook fusion": fields["r_at_10"] > max(fields.get(f"{rival}_r_at_10", 0) for rival in RIVALS),
    }


def show(dialogues: list[Dialogue], found: list[Found]) -> None:
    names = [f"{name}@{depth}" for name in ("recall", *RIVALS) for depth in DEPTHS] + list(SIZES)
    names = [name for name in names if name in found[0].shares]
    rows = [(dialogue.name, *(each.percent(name, *COUNTED) for name in names)) for dialogue, each in zip(dialogues, found, strict=True)]
    all_ = together(found)
    report.table(("dialogue", *names), [*rows, ("all", *(all_.percent(name, *COUNTED) for name in names))])
    report.table(("category", *names), [(name, *(all_.percent(what, number) for what in names)) for number, name in CATEGORIES.items()])
    print(f"evidence that names no turn: {sum(dialogue.unresolved for dialogue in dialogues)}\n")


@asynccontextmanager
async def embedding(is_wanted: bool) -> AsyncIterator[Embedder | None]:
    if not is_wanted or (lack := missing()):
        print(f"by words only: {lack if is_wanted else 'as asked'}\n")
        yield None
        return
    embedder = LocalEmbedder(SystemClock())
    try:
        yield embedder
    finally:
        await embedder.close()


async def main() -> int:
    asked = report.options(__doc__, {"data": (DATA, "dialogues in the format of LoCoMo")}, words="do without vectors")
    if not asked.data.is_file():
        print(f"recall: there is no file {asked.data}; name dialogues in the format of LoCoMo with --data FILE", file=sys.stderr)
        return UNUSABLE
    dialogues = load(asked.data)[: 1 if asked.quick else None]
    with tempfile.TemporaryDirectory(prefix="daimon-recall-") as place:
        async with embedding(not asked.words) as embedder:
            found = [await measure(dialogue, Path(place), embedder) for dialogue in dialogues]
    show(dialogues, found)
    fields = figures(together(found))
    return report.finish(asked, fields, aims=aims(fields))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
