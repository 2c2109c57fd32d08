"""Costs and health by the page. What it shows is counted here by hand from what was written into the journal."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.noon import noon
from tests.room import locked
from tests.room.rig import DEADLINE_S, PHONE, Gateway, Room, axe, gateway, room_of

from daimon import config
from daimon.abi.event import Said
from daimon.abi.message import Text, ToolResult
from daimon.abi.money import Account, Scope, Usage
from daimon.abi.step import Checkpointed, Happened, Reserved, Settled
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.ledger import Desk
from daimon.testing.ids import CountingIds

EVIL = "<img src=x onerror=alert(1)>"


async def spend(path: Path, zone: tzinfo) -> None:
    """Three calls of two models, in three conversations, and three calls of a tool, today."""
    now = datetime.now(UTC)
    today = now.astimezone(zone)
    clock = ManualClock(start=now)
    journal = await SqliteJournal.open(path, clock, CountingIds())
    accounts = (Account(Scope.DAY, f"{today:%Y-%m-%d}"), Account(Scope.MONTH, f"{today:%Y-%m}"))
    try:
        for name, model, cost in (("a", "large", "0.75"), ("b", "large", "0.50"), (EVIL, "small", "0.25")):
            pen = await Desk(journal, clock).begin(name, Said((Text(name),)))
            n = await pen.write(Reserved(model, "p", 900, 100, Decimal(cost), "test", accounts))
            await pen.write(Settled(n, Usage(900, 100, 450, cost=Decimal(cost)), "measured"))
            await pen.write(Checkpointed("workspace", f"c-{model}"))
            await pen.write(Happened(0, ToolResult("c", "fetch", (Text("x"),)), "timeout" if name == "a" else ""))
            await pen.end()
    finally:
        await journal.close()


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    home, zone = tmp_path_factory.mktemp("spent") / "home", noon()
    home.mkdir()
    with ThreadPoolExecutor(1) as apart:  # the thread of the test has a loop already, the browser's
        apart.submit(asyncio.run, spend(Home(home).journal, zone)).result(DEADLINE_S)
    whose = config.Owner(timezone=zone.key)
    with gateway(home, extensions=("tests.room.puppet", "tests.room.locked"), owner=whose) as running:
        yield running


@pytest.fixture
def shown(browser: Browser, spent: Gateway) -> Iterator[Room]:
    with room_of(browser, spent) as made:
        yield made


def promised(page: Page, name: str) -> str:
    return page.locator(".promise").filter(has_text=name).locator("b").inner_text()


def test_an_empty_home_has_noughts_and_says_what_will_stand_there(browser: Browser, tmp_path: Path) -> None:
    with gateway(tmp_path / "home") as running, room_of(browser, running) as room:
        page = room.tab("/health")
        expect(page.get_by_role("heading", name="Nothing was spent")).to_be_visible()
        expect(page.get_by_role("heading", name="No tool was used")).to_be_visible()
        assert promised(page, "lost") == "0"
        assert axe(page) == []


def test_what_was_spent_stands_there_to_the_cent(shown: Room) -> None:
    page = shown.tab("/health")
    expect(page.get_by_text("$1.50 in 3 calls")).to_be_visible()
    expect(page.get_by_text("$1.50 of $5.00")).to_have_count(2)  # the meter, and the promise
    table = page.get_by_role("region", name="Spent", exact=True).get_by_role("table")
    expect(table.get_by_role("row").nth(1)).to_contain_text("large")
    expect(table.get_by_role("row").nth(1)).to_contain_text("$1.25")
    expect(table.get_by_role("row").nth(2)).to_contain_text("$0.25")
    page.get_by_role("tab", name="By conversation").click()
    expect(table.get_by_role("row")).to_have_count(4)
    expect(page.get_by_text(EVIL)).to_be_visible()
    assert page.locator("main img").count() == 0
    assert "by=conversation" in page.url
    expect(page.get_by_role("img", name=re.compile(r"Spent each day:.*\$1\.50"))).to_be_visible()
    assert axe(page) == []


def test_tools_tokens_and_promises_are_those_of_the_journal(shown: Room) -> None:
    page = shown.tab("/health")
    row = page.get_by_role("region", name="Tools").last.get_by_role("row").filter(has_text="fetch")
    expect(row).to_contain_text("67 %")
    expect(row).to_contain_text("timeout 1")
    expect(page.locator(".figure").filter(has_text="came from a cache")).to_contain_text("50 %")
    expect(page.locator(".figure").filter(has_text="tokens for each answer")).to_contain_text("1,000")
    expect(page.locator(".figure").filter(has_text="times files were kept before a change")).to_contain_text("3")
    assert promised(page, "lost") == "0"
    assert "3 taken in: 3 ended, 0 open" in page.locator(".promise").filter(has_text="lost").inner_text()
    assert promised(page, "calls for nothing") == "0"


def test_figures_follow_what_happens(room: Room) -> None:
    page = room.tab("/health")
    expect(page.locator(".promise").filter(has_text="lost")).to_contain_text("taken in")
    before = room.live.get("/v1/health")["figures"]["taken"]["accepted"]
    room.live.ask("say hello", "watched")
    expect(page.locator(".promise").filter(has_text="lost")).to_contain_text(f"{before + 1} taken in")


def test_what_could_not_be_used_is_shown_as_text(room: Room) -> None:
    assert room.live.call("POST", "/v1/events", f"{{{EVIL}".encode()).status == 400
    page = room.tab("/health")
    card = page.get_by_role("region", name="Could not be used")
    card.locator("summary").first.click()
    expect(card.get_by_text(EVIL)).to_be_visible()
    assert page.locator("main img").count() == 0


def test_on_a_phone_nothing_scrolls_sideways(shown: Room) -> None:
    page = shown.tab("/health?days=30", PHONE)
    expect(page.get_by_text("$1.50 in 3 calls")).to_be_visible()
    assert page.evaluate("() => { const box = document.querySelector('.content'); return box.scrollWidth <= box.clientWidth; }")
    assert axe(page) == []


def test_a_channel_that_is_locked_out_says_why_and_is_tried_again(shown: Room) -> None:
    page = shown.tab("/health")
    row = page.get_by_role("region", name="Channels").last.get_by_role("row").filter(has_text="pigeon")
    expect(row).to_contain_text("locked out")
    locked.SERVICE.is_locked = False
    row.get_by_role("button", name="Try now").click()
    expect(row.get_by_text("up", exact=True)).to_be_visible()
    expect(row.get_by_role("button")).to_have_count(0)
