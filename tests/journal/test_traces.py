from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.journal.world import begun, opened, step

from daimon.abi.automation import Automation, Once
from daimon.abi.hook import Hook
from daimon.abi.ids import HOME_SPACE, OWNER, SELF
from daimon.abi.judgement import Grant
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.step import Continue, Decided, Granted
from daimon.abi.tool import Capability
from daimon.abi.trace import Traces
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds

SKILL = Label.of(Origin(Author.STRANGER, "skill:read"))
LIKE = Label.of(Origin(Author.STRANGER, "skill:read-more"))


async def test_what_would_happen_by_itself_is_found_by_its_label_and_ended_and_no_word_is_left(tmp_path: Path) -> None:
    clock = ManualClock()
    journal = await SqliteJournal.open(tmp_path / "journal.db", clock, CountingIds())
    try:
        later = Once(clock.now() + timedelta(days=1))
        for id_, label in (("theirs", owned("automations").joined(SKILL)), ("alike", LIKE), ("mine", owned("automations"))):
            task = f"task of {id_}: {'zebraquagga' if id_ == 'theirs' else ''}"
            await journal.automate(HOME_SPACE, Automation(id=id_, when=later, task=task, timezone="UTC"), OWNER, label)
            await journal.hook(HOME_SPACE, Hook(name=id_, scheme="generic", secret="x", task=task), OWNER, label)
        found = await journal.traces(HOME_SPACE, "skill:read")
        assert found == Traces(automations=("theirs",), hooks=("theirs",))
        before = journal.hook_changes
        assert await journal.end_traces(HOME_SPACE, "skill:read") == found
        assert await journal.traces(HOME_SPACE, "skill:read") == Traces()
        assert [kept.automation.id for kept in await journal.automations(HOME_SPACE)] == ["alike", "mine"]
        assert [hooked.hook.name for hooked in await journal.hooks(HOME_SPACE)] == ["alike", "mine"]
        assert journal.hook_changes > before
        assert "zebraquagga" not in on_disk(tmp_path)
    finally:
        await journal.close()


async def test_grants_go_that_were_given_in_a_turn_that_had_read_it_or_for_its_tool(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        grant = lambda n, tool: Grant(f"{claim.turn.id}:{n}", SELF, (Capability.SENDS,), tool)  # noqa: E731
        before = [step(claim, 0, Granted(0, grant(0, "send"))), step(claim, 1, Granted(0, grant(1, "skill_read")))]
        read = replace(step(claim, 2, Decided(Continue(), "1")), label=SKILL)
        await journal.record(claim, [*before, read, step(claim, 3, Granted(0, grant(3, "send")))])
        its = (f"{claim.turn.id}:1", f"{claim.turn.id}:3")
        assert (await journal.traces(HOME_SPACE, "skill:read", ("skill_read",))).grants == its
        await journal.end_traces(HOME_SPACE, "skill:read", ("skill_read",))
        assert [given.grant.id for given in await journal.given(HOME_SPACE)] == [f"{claim.turn.id}:0"]


def on_disk(place: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in place.glob("journal.db*"))
