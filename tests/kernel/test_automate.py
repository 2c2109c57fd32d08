"""Something that happens by itself, set from a conversation: at once where the owner alone led to it, asked where a stranger had a word."""

from datetime import datetime
from typing import Any

from tests.kernel.errands import World
from tests.kernel.hijacked import MAILS, house, questions
from tests.kernel.rig import outcomes, result_text

from daimon.abi.automation import Automation, Cron, Draft
from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE
from daimon.heartbeat.drafting import drafted
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.model import calls, says
from daimon.tools.automations import automation_tools

WANTED: tuple[str, dict[str, Any]] = ("automate", {"name": "brief", "schedule": "every weekday at 8", "task": "Brief me."})
ASKED = "Every weekday at 8: brief me. Call it brief."


def world() -> tuple[MemoryJournal, dict[str, Any]]:
    journal = MemoryJournal(clock := ManualClock(), CountingIds())

    def draft(given: Draft, now: datetime) -> Automation:
        return drafted(given, now, "Europe/Berlin")

    return journal, {"journal": journal, "clock": clock, "tools": automation_tools(journal, draft)}


async def test_the_owners_words_alone_set_it_at_once() -> None:
    journal, more = world()
    async with house(World(), calls(WANTED), says("done"), **more) as rig:
        _, steps = await rig.ask(ASKED)
        assert questions(steps) == []
    (kept,) = await journal.automations(HOME_SPACE)
    assert (kept.automation.when, kept.automation.task) == (Cron("0 8 * * 1-5"), "Brief me.")
    assert kept.automation.to == Address("fake", "main")


async def test_where_a_stranger_had_a_word_the_owner_is_asked() -> None:
    journal, more = world()
    async with house(World(), calls(MAILS), calls(WANTED), says("done"), **more) as rig:
        turn, steps = await rig.ask("Read my mails.")
        assert await journal.automations(HOME_SPACE) == ()
        assert len(questions(steps)) == 1
        asked = next(step for step in steps if step.body in questions(steps))
        await rig.answer(asked.ref, "allow")
        await rig.ended(turn)
    (kept,) = await journal.automations(HOME_SPACE)
    assert not kept.label.is_trusted


async def test_what_is_wrong_is_told_to_the_model() -> None:
    journal, more = world()
    wrong = ("automate", {**WANTED[1], "schedule": "every wekday at 8"})
    async with house(World(), calls(wrong), says("sorry"), **more) as rig:
        _, steps = await rig.ask("Every wekday at 8: brief me. Call it brief.")
        assert "Try 'every weekday at 8'" in result_text(outcomes(steps)[0])
    assert await journal.automations(HOME_SPACE) == ()


async def test_it_is_listed_and_stopped() -> None:
    journal, more = world()
    stop = ("stop_automation", {"name": "brief"})
    async with house(World(), calls(WANTED), calls(("list_automations", {})), calls(stop), says("done"), **more) as rig:
        _, steps = await rig.ask(f"{ASKED} List them. Then stop brief.")
        assert "every weekday at 8" in result_text(outcomes(steps)[1])
    assert await journal.automations(HOME_SPACE) == ()
