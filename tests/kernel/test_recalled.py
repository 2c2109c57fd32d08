"""What a model reads and keeps by itself, on a journal and a memory that are on disk."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.kernel.rig import Rig, Tool
from tests.kernel.test_labels import asked, home, last_of

from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId
from daimon.abi.label import Author
from daimon.abi.message import Text
from daimon.abi.step import Happened, Step
from daimon.abi.tool import Call, Result, ResultLabel
from daimon.memory.graph import limits
from daimon.memory.store import MemoryStore
from daimon.testing.memory import FakeMemory
from daimon.testing.model import calls, says
from daimon.tools.facts import fact_tools
from daimon.tools.graph import graph_tools

PAGE = "the long text of a page. " * 600
KNOWING = (*fact_tools(), *graph_tools(FakeMemory(), limits.check))
CITY = {"subject": "owner", "about": "city"}
EDGE = ["Person", "Anna", "WORKS_AT", "Company", "Acme"]


async def page(arguments: dict[str, JsonValue], call: Call) -> Result:
    return Result({"page": PAGE})


def fetch() -> Tool:
    return Tool("fetch", behaviour=page, result=ResultLabel(Author.STRANGER, "web:example.org"))


def data_of(outcome: Happened) -> Any:
    part = outcome.result.parts[0]
    assert isinstance(part, Text)
    return json.loads(part.text)


async def fetched(rig: Rig) -> str:
    """The outcome of reading the page, by its reference."""
    return str(outcome_of(await asked(rig, "read it"), "fetch").ref)


def outcome_of(steps: tuple[Step, ...], tool: str) -> Step:
    return next(step for step in steps if isinstance(step.body, Happened) and step.body.result.tool == tool)


FETCH = calls(("fetch", {"text": "x"}))


async def test_the_whole_of_an_earlier_result_is_read_piece_by_piece_under_its_label(tmp_path: Path) -> None:
    async with home(tmp_path, FETCH, says("read"), tools=[fetch()]) as rig:
        ref = await fetched(rig)
    text, at = "", 0
    while True:
        async with home(tmp_path, calls(("recall", {"ref": ref, "from_character": at}))) as rig:
            outcome = last_of(await asked(rig, "once more", f"other {at}"))
        piece = data_of(outcome)["data"]
        assert "web:example.org" in {origin.source for origin in outcome.result.label.origins}
        text += piece["text"]
        if "go_on_from_character" not in piece:
            break
        at = piece["go_on_from_character"]
    assert json.loads(text)["data"] == {"page": PAGE}


@pytest.mark.parametrize("hold_now", ["never", "strangers"])
async def test_what_was_held_stays_held_when_it_is_read_again(tmp_path: Path, hold_now: str) -> None:
    async with home(tmp_path, FETCH, says("read"), tools=[fetch()], hold="strangers") as rig:
        ref = await fetched(rig)
    async with home(tmp_path, calls(("recall", {"ref": ref})), hold=hold_now) as rig:
        outcome = last_of(await asked(rig, "once more", "other"))
    assert PAGE[:20] not in str(data_of(outcome))
    assert "held" in data_of(outcome)["data"]["text"]


async def test_nobody_reads_what_was_said_to_somebody_else(tmp_path: Path) -> None:
    async with home(tmp_path, FETCH, says("read"), tools=[fetch()]) as rig:
        ref = await fetched(rig)
        event = (await rig.journal.turns(HOME_SPACE, 1))[0].event
    for each in (ref, event, "t0:0", "nonsense", "a:b:c", f"{ref}0", f"{ref.rpartition(':')[0]}:0"):
        async with home(tmp_path, calls(("recall", {"ref": each}))) as rig:
            turn = await rig.rested(await rig.say("what did they say?", f"bobs {each}", PrincipalId("bob")))
            outcome = last_of(tuple(await rig.journal.steps(turn.id)))
        assert (outcome.code, PAGE[:20] in str(outcome)) == ("not_found", False)


async def test_what_the_owner_said_is_read_by_its_event(tmp_path: Path) -> None:
    async with home(tmp_path) as rig:
        event = await rig.say("a word of mine")
        await rig.rested(event)
    async with home(tmp_path, calls(("recall", {"ref": event.id}))) as rig:
        outcome = last_of(await asked(rig, "what was that?", "other"))
    assert (data_of(outcome)["data"]["text"], outcome.result.label.is_trusted) == ("a word of mine", True)


@pytest.mark.parametrize("reads_page", [True, False])
async def test_a_fact_learnt_among_a_strangers_words_overrides_nothing_of_the_owners(tmp_path: Path, reads_page: bool) -> None:
    own = calls(("learn", CITY | {"statement": "The owner lives in Ulm."}))
    other = calls(("learn", CITY | {"statement": "The owner lives in Bonn."}))
    async with home(tmp_path, own, says("ok"), tools=KNOWING) as rig:
        await asked(rig, "I live in Ulm, note it")
    lines = (FETCH, other) if reads_page else (other,)
    async with home(tmp_path, *lines, tools=[*KNOWING, fetch()]) as rig:
        await asked(rig, "and now?", "other")
        memory, _ = await MemoryStore.open(tmp_path / "memory.db", rig.journal)
        facts = {item.text: item.standing for item in await memory.history(HOME_SPACE, OWNER, "owner") if item.about == "city"}
        await memory.close()
    assert facts == {
        "The owner lives in Ulm.": "holds" if reads_page else "superseded",
        "The owner lives in Bonn.": "disputed" if reads_page else "holds",
    }


@pytest.mark.parametrize("reads_page", [True, False])
async def test_an_edge_of_the_owners_is_not_ended_by_a_stranger(tmp_path: Path, reads_page: bool) -> None:
    async with home(tmp_path, calls(("relate", {"edges": [EDGE]})), says("ok"), tools=KNOWING) as rig:
        await asked(rig, "note it")
    ends = calls(("relate", {"edges": [EDGE], "are_over": True}))
    async with home(tmp_path, *((FETCH, ends) if reads_page else (ends,)), tools=[*KNOWING, fetch()]) as rig:
        await asked(rig, "and now?", "other")
        memory, _ = await MemoryStore.open(tmp_path / "memory.db", rig.journal)
        found = await memory.ask_graph(HOME_SPACE, OWNER, 'MATCH (:Person {name: "Anna"})-[:WORKS_AT]->(b) RETURN b.name')
        await memory.close()
    assert (found.rows, found.label.is_trusted) == (((("Acme",),), True) if reads_page else ((), True))
