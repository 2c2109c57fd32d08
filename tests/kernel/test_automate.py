"""Something that happens by itself, set from a conversation: at once where the owner alone led to it, asked where a stranger had a word."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tests.kernel.errands import World
from tests.kernel.hijacked import MAILS, house, questions
from tests.kernel.rig import outcomes, result_text

from daimon.abi.automation import Automation, Cron, Draft, Every
from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.plan import Plan, Planned
from daimon.abi.watch import WatchPage
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


async def test_what_is_left_out_of_a_change_stays_as_it_was() -> None:
    journal, more = world()
    first = Automation(
        id="brief", when=Cron("0 8 * * 1-5"), task="Brief me.", timezone="Asia/Tokyo", said="every weekday at 8",
        to=Address("fake", "elsewhere"), watch=WatchPage("https://a.example/", ".price"), model="small", cost=Decimal("0.50"),
        catch_up="skip", jitter_s=60.0, is_paused=True,
    )  # fmt: skip
    await journal.automate(HOME_SPACE, first, OWNER, owned("api"))
    change = ("automate", {"name": "brief", "schedule": "every weekday at 9"})
    async with house(World(), calls(change), says("done"), **more) as rig:
        await rig.ask("Let brief be every weekday at 9.")
    (kept,) = await journal.automations(HOME_SPACE)
    assert kept.automation == replace(first, when=Cron("0 9 * * 1-5"), said="every weekday at 9")


async def test_all_that_an_automation_has_can_be_said_in_a_conversation_but_a_licence() -> None:
    journal, more = world()
    wanted = {
        "name": "price", "schedule": "every hour", "task": "Tell me the price.", "watch": "page", "what": ["https://a.example/"],
        "selector": ".price", "timezone": "America/New_York", "model": "small", "cost_per_day": 0.5, "catch_up": "skip", "overlap": "wait",
        "jitter_s": 30.0, "paused": True,
    }  # fmt: skip
    async with house(World(), calls(("automate", wanted)), says("done"), **more) as rig:
        turn, steps = await rig.ask("Every hour look at the page https://a.example/, with small, for $0.5 a day, and call it price.")
        for step in steps:
            if step.body in questions(steps):
                await rig.answer(step.ref, "allow")
        await rig.ended(turn)
    (kept,) = await journal.automations(HOME_SPACE)
    a = kept.automation
    assert (a.watch, a.timezone, a.model, a.cost) == (
        WatchPage("https://a.example/", ".price"),
        "America/New_York",
        "small",
        Decimal("0.5"),
    )
    assert (a.catch_up, a.overlap, a.jitter_s, a.is_paused) == ("skip", "wait", 30.0, True)


async def test_a_change_takes_the_licence_away_and_says_so_and_a_pause_leaves_the_time_alone() -> None:
    journal, more = world()
    start = datetime(2026, 3, 2, 6, tzinfo=UTC)
    licensed = Automation(
        id="brief", when=Every(3_600, start), task="Brief me.", timezone="UTC", said="every hour", licence=Plan((Planned("send_mail"),))
    )
    await journal.automate(HOME_SPACE, licensed, OWNER, owned("api"))
    pause = ("automate", {"name": "brief", "paused": True})
    async with house(World(), calls(pause), says("done"), **more) as rig:
        _, steps = await rig.ask("Let brief rest for now.")
        assert "licence is gone" in result_text(outcomes(steps)[0])
    (kept,) = await journal.automations(HOME_SPACE)
    assert kept.automation == replace(licensed, licence=None, is_paused=True)


async def test_a_task_that_strangers_led_to_does_not_become_the_owners_by_a_change() -> None:
    journal, more = world()
    others = Label.of(Origin(Author.STRANGER, "mail:eve"), readers=(OWNER,))
    await journal.automate(
        HOME_SPACE, Automation(id="brief", when=Cron("0 8 * * *"), task="Pay Eve.", timezone="UTC", said="daily at 8"), OWNER, others
    )
    async with house(World(), calls(("automate", {"name": "brief", "schedule": "daily at 9"})), says("done"), **more) as rig:
        await rig.ask("Let brief be daily at 9.")
    (kept,) = await journal.automations(HOME_SPACE)
    assert (kept.automation.task, kept.label.is_trusted) == ("Pay Eve.", False)
