"""Claim: of five hundred skills the right one is among the three that are named to the model, for few tokens and little time.

Every request of `lab/skillset.txt` is put to the catalogue with all skills of it, as the context does; the block that would stand in the
prompt is made and counted. Requests were written by hand, without copying from the descriptions. Most say what is to be done; a second,
harder kind only tells a need ("my nose runs, is it the birches already"). The ranking was adjusted with every other family of tasks in
view; the others, which count, were only measured. Where the model for meanings is on this machine it is used, as it is in a home.

    top1_percent, top3_percent      requests of the held-out families whose skill was the first, or among the first three
    needs_top3_percent              the same of requests that only tell a need
    words_top3_percent              without meanings
    tuning_…                        of the families that the ranking was adjusted with
    bm25_top3_percent               SQLite's BM25 over the same texts, in the same run, held out
    quiet_percent                   ordinary talk, held out, for which nothing is named
    tokens                          the most that a block takes
    p99_ms, cpu_p99_ms              a choice, by the clock and in processor time, which other work on the machine does not lengthen
    embed_p99_ms                    the vector of a question, which recall needs as well
    build_ms                        making the index of all skills

`--misses` shows requests of the tuning half that went wrong. `--words` does without meanings.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from lab import report
from lab.rivals import Bm25
from lab.skillset import Asked, Skillset, load

from daimon.abi.skill import Suggestion
from daimon.context import blocks
from daimon.context.tokens import estimate
from daimon.library.nearness import Nearness
from daimon.machine.clock import SystemClock
from daimon.memory.embedding.process import LocalEmbedder
from daimon.memory.embedding.weights import missing
from daimon.skills.catalogue import NOTHING, Catalogue

MOST = 3
AIM_TOP3, AIM_TOKENS, AIM_MS = 90.0, 400, 5.0
ROUNDS = 5
DEADLINE_S = 300.0
Chosen = Mapping[str, tuple[str, ...]]
"""By request: the names that were chosen."""
Near = Mapping[str, Mapping[str, float]]
"""By request: how close skills are to it."""


def measured(skillset: Skillset, near: Near) -> tuple[Chosen, dict[str, Any]]:
    began = time.perf_counter()
    catalogue = Catalogue(skillset.skills)
    catalogue.choose("what there is to choose from", MOST)  # makes what is made once
    build_ms = 1_000 * (time.perf_counter() - began)
    took, cpu, chosen, tokens = list[float](), list[float](), dict[str, tuple[str, ...]](), 0
    for asked in skillset.asked * ROUNDS:
        began, begun = time.perf_counter(), time.thread_time()
        found = catalogue.choose(asked.text, MOST, near.get(asked.text, NOTHING))
        took.append(1_000 * (time.perf_counter() - began))
        cpu.append(1_000 * (time.thread_time() - begun))
        chosen[asked.text] = tuple(each.name for each in found)
        tokens = max(tokens, _tokens(found))
    p99_ms, cpu_p99_ms = (round(report.percentile(each, 0.99), 3) for each in (took, cpu))
    return chosen, {"tokens": tokens, "p99_ms": p99_ms, "cpu_p99_ms": cpu_p99_ms, "build_ms": round(build_ms, 1)}


def _tokens(found: Sequence[Suggestion]) -> int:
    block = blocks.skills(found)
    return 0 if block is None else estimate(block.message)


async def meanings(skillset: Skillset) -> tuple[Near, dict[str, Any]]:
    embedder = LocalEmbedder(SystemClock())
    nearness, near, took = Nearness(embedder, SystemClock()), dict[str, Mapping[str, float]](), list[float]()
    working = asyncio.create_task(nearness.work())
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not await nearness.near("hello", skillset.skills):  # noqa: ASYNC110 - the vectors come when they come
                await asyncio.sleep(0.05)
            for asked in skillset.asked:
                began = time.perf_counter()
                near[asked.text] = await nearness.near(asked.text, skillset.skills)
                took.append(1_000 * (time.perf_counter() - began))
    finally:
        working.cancel()
        await embedder.close()
    return near, {"embed_p99_ms": round(report.percentile(took, 0.99), 1)}


def percent(asked: Sequence[Asked], chosen: Chosen, depth: int) -> float:
    return round(100 * sum(each.skill in chosen[each.text][:depth] for each in asked) / len(asked), 1)


def quiet(talk: Sequence[Asked], chosen: Chosen) -> float:
    return round(100 * sum(not chosen[each.text] for each in talk) / len(talk), 1)


def textbook(skillset: Skillset) -> Chosen:
    bm25 = Bm25([f"{each.name} {each.skill.description} {' '.join(each.skill.triggers)}" for each in skillset.skills])
    return {each.text: tuple(skillset.skills[n].name for n in bm25.rank(each.text)[:MOST]) for each in skillset.asked}


def half(skillset: Skillset, *, is_held_out: bool, is_need: bool) -> list[Asked]:
    return [each for each in skillset.asked if each.skill and each.is_held_out is is_held_out and each.is_need is is_need]


def figures(skillset: Skillset, chosen: Chosen, by_words: Chosen) -> dict[str, Any]:
    held, tuning = (half(skillset, is_held_out=is_held, is_need=False) for is_held in (True, False))
    needs, needs_tuning = (half(skillset, is_held_out=is_held, is_need=True) for is_held in (True, False))
    talk, talk_tuning = ([each for each in skillset.asked if not each.skill and each.is_held_out is held] for held in (True, False))
    return {
        "top1_percent": percent(held, chosen, 1), "top3_percent": percent(held, chosen, MOST),
        "needs_top3_percent": percent(needs, chosen, MOST), "words_top3_percent": percent(held, by_words, MOST),
        "tuning_top1_percent": percent(tuning, chosen, 1), "tuning_top3_percent": percent(tuning, chosen, MOST),
        "tuning_needs_top3_percent": percent(needs_tuning, chosen, MOST), "tuning_words_top3_percent": percent(tuning, by_words, MOST),
        "bm25_top3_percent": percent(held, textbook(skillset), MOST),
        "quiet_percent": quiet(talk, chosen), "tuning_quiet_percent": quiet(talk_tuning, chosen),
        "skills": len(skillset.skills), "requests": len(held) + len(tuning), "held_out": len(held),
    }  # fmt: skip


def aims(fields: Mapping[str, Any]) -> dict[str, bool]:
    return {
        f"{AIM_TOP3:g} % among the first three": fields["top3_percent"] >= AIM_TOP3,
        f"under {AIM_TOKENS} tokens": fields["tokens"] < AIM_TOKENS,
        f"a choice under {AIM_MS:g} ms": fields["p99_ms"] < AIM_MS,
    }


def main() -> int:
    asked = report.options(__doc__, misses="show requests of the tuning half that went wrong", words="do without meanings")
    skillset, near, embedding = load(), dict[str, Mapping[str, float]](), dict[str, Any]()
    lack = "as asked" if asked.words else missing()
    if lack:
        print(f"by words only: {lack}\n")
    else:
        near, embedding = asyncio.run(meanings(skillset))
    by_words, _ = measured(skillset, {})
    chosen, took = measured(skillset, near)
    if asked.misses:
        tuning = [each for is_need in (False, True) for each in half(skillset, is_held_out=False, is_need=is_need)]
        missed = [(each.text, each.skill, ", ".join(chosen[each.text])) for each in tuning if each.skill not in chosen[each.text]]
        report.table(("request", "wanted", "chosen"), missed)
    fields = figures(skillset, chosen, by_words) | took | embedding
    return report.finish(asked, fields, aims=aims(fields))


if __name__ == "__main__":
    sys.exit(main())
