"""The judge of deliveries can say no: to a message that is lost, doubled, swapped or called failed though it is there."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from delivery import judged
from lab.delivered import Delivered, TakenIn, Told, judge, judge_taken
from lab.letter import Letter, ordered
from lab.process import CHECKOUT
from lab.services.service import Service
from lab.services.slack import Slack
from lab.services.telegram import Telegram
from lab.storm import Plan, Storm
from tests.benchmarks.meddling import CUT, DEAF, DROPS, HUSHED, SHUFFLES, STUTTERS, SWAPS, TWICE

FIRST, LONG, FILE = Letter("slack", 3, 0), Letter("slack", 3, 1, "long", "3"), Letter("slack", 3, 2, "file", "ab12")
LETTERS = (FIRST, LONG, FILE)
WHOLE = (FIRST.text, LONG.text, FILE.text, FILE.file_name)
KINDS = ("lost", "duplicated", "out_of_order", "misreported")


def kinds(verdict: Delivered | TakenIn) -> list[str]:
    return [name for name in KINDS if getattr(verdict, name, ())]


def test_what_is_there_once_and_in_order_passes_in_one_piece_or_in_many() -> None:
    assert judge(LETTERS, WHOLE, {}).is_kept
    assert judge(LETTERS, (FIRST.text, *LONG.text.split("\n\n"), FILE.text, f"{FILE.file_name} · 5f1c"), {}).is_kept


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (WHOLE[:3], ["lost"]),
        ((WHOLE[0], "slack-3-1.0 slack-3-1.2", *WHOLE[2:]), ["lost"]),
        ((), ["lost"]),
        ((*WHOLE, FIRST.text), ["duplicated"]),
        ((*WHOLE, "slack-4-0.0"), ["duplicated"]),
        ((WHOLE[0], "slack-3-1.0", "slack-3-1.0 slack-3-1.1 slack-3-1.2", *WHOLE[2:]), ["duplicated"]),
        ((WHOLE[1], WHOLE[0], *WHOLE[2:]), ["out_of_order"]),
        ((WHOLE[0], "slack-3-1.1 slack-3-1.0 slack-3-1.2", *WHOLE[2:]), ["out_of_order"]),
    ],
)
def test_what_is_not_there_once_and_in_order_is_called_so(seen: Sequence[str], found: list[str]) -> None:
    assert kinds(judge(LETTERS, seen, {})) == found


def test_what_is_reported_as_unknown_or_failed_is_not_lost_but_may_not_be_doubled_or_called_failed_in_vain() -> None:
    unknown, failed = {FIRST.name: Told("unknown", "cut")}, {FIRST.name: Told("failed", "550 no such user")}
    assert judge(LETTERS, WHOLE[1:], unknown).is_kept
    assert judge(LETTERS, WHOLE, unknown).unknown_seen == 1
    assert judge(LETTERS, WHOLE[1:], failed).is_kept
    assert kinds(judge(LETTERS, (WHOLE[0], *WHOLE), unknown)) == ["duplicated"]
    assert kinds(judge(LETTERS, WHOLE, failed)) == ["misreported"]


def test_what_people_said_is_taken_in_once_and_in_order_or_called_so() -> None:
    said = [letter.order for letter in LETTERS]
    assert judge_taken(LETTERS, said).is_kept
    assert kinds(judge_taken(LETTERS, said[1:])) == ["lost"]
    assert kinds(judge_taken(LETTERS, [*said, said[0]])) == ["duplicated"]
    assert kinds(judge_taken(LETTERS, [said[1], said[0], said[2]])) == ["out_of_order"]


def test_an_order_is_read_back_as_the_letter_that_it_asks_for() -> None:
    assert [ordered(f"[subject: x]\n{letter.order}\n") for letter in LETTERS] == list(LETTERS)


# -- the whole, with kills and troubles, and with a system that is broken on purpose --------------------------------------


@asynccontextmanager
async def storm(place: Path, plan: Plan, *services: Service) -> AsyncIterator[Storm]:
    for service in services:
        await service.open(plan.written, plan.spoken)
    made = Storm(place / "a", services, random.Random(0), plan)
    try:
        yield made
    finally:
        await made.close()
        for service in services:
            await service.close()


def test_letters_survive_kills_and_troubles(tmp_path: Path) -> None:
    plan = Plan(messages=24, places=8, kills=2, most_kills=3, life_s=3.0, trouble=0.2, patience_s=60.0, is_patient=False)

    async def run() -> None:
        async with asyncio.timeout(300), storm(tmp_path, plan, Telegram(), Slack()) as made:
            await made.open()
            await made.rage()
            await made.calm()
            fields, is_kept = await judged(made)
            assert is_kept, fields
            assert (fields["messages"], fields["inbound"]) == (48, 12)
            assert made.kills >= 2
            assert fields["unknown_reported"] < 24, "so much in doubt proves nothing"

    asyncio.run(run())


def test_a_system_that_breaks_deliveries_is_called_broken_in_each_place_by_the_right_name(tmp_path: Path) -> None:
    plan = Plan(messages=24, places=12, kills=0, most_kills=0, trouble=0.0, patience_s=60.0, is_patient=False, unheard=1)

    async def run() -> tuple[Delivered, TakenIn, bool]:
        async with asyncio.timeout(300), storm(tmp_path, plan, Telegram()) as made:
            made.letters["telegram"] = [[Letter("telegram", place, n) for n in range(2)] for place in range(12)]
            made.extensions.append("meddling")
            made.environment["PYTHONPATH"] = ":".join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))
            await made.open()
            await made.rage()
            await made.calm()
            (service,) = made.services
            return await made.delivered(service), await made.taken_in(service), (await judged(made))[1]

    out, taken, is_kept = asyncio.run(run())
    assert places(out.lost) == {DROPS, HUSHED, DEAF}
    assert places(out.duplicated) == {TWICE, STUTTERS}
    assert places(out.out_of_order) == {SWAPS, SHUFFLES}
    assert places(out.unknown) == {CUT}
    assert places(taken.lost) == {DEAF}
    assert places(taken.duplicated) == {STUTTERS}
    assert places(taken.out_of_order) == {SHUFFLES}
    assert not is_kept


def places(names: Sequence[str]) -> set[int]:
    return {int(name.split("-")[1]) for name in names}
