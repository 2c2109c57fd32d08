"""Settings in a real browser: models, channels, secrets, policies, people, devices, budgets and backups, each with a real backend."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Page, expect
from tests.gateway.live import Live
from tests.room.rig import DEADLINE_S, PHONE, Gateway, Room, axe
from tests.steward.rig import furnished

from daimon import keeper
from daimon.testing.provider.server import KEY, ProviderServer
from daimon.testing.telegram.chats import ANNA, BEN, Person
from daimon.testing.telegram.server import TOKEN, TelegramServer

SECTIONS = ("models", "channels", "people", "devices", "secrets", "policies", "budget", "backup", "acts", "about")
NASTY = '<img src=x onerror="document.title=1">'
VALUE = "s3cret-value-0123456789"


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with furnished(tmp_path_factory.mktemp("settings") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture(scope="module")
def provider(portal: BlockingPortal) -> Iterator[ProviderServer]:
    server: AbstractContextManager[ProviderServer] = portal.wrap_async_context_manager(ProviderServer(models=("test-model", "other")))
    with server as opened:
        yield opened


@pytest.fixture(scope="module")
def telegram(portal: BlockingPortal) -> Iterator[TelegramServer]:
    server: AbstractContextManager[TelegramServer] = portal.wrap_async_context_manager(TelegramServer())
    with server as opened:
        yield opened


def opened(room: Room, section: str) -> Page:
    page = room.tab(f"/settings/{section}")
    expect(page.locator(".settings-content > *").first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    return page


def until_heard(live: Live, knocks: int) -> None:
    """What was said in the chats is there: the owner's is paired, and so many knocked. The page is read once."""
    until = time.monotonic() + DEADLINE_S
    while True:
        there = live.get("/v1/people")
        if len(there["knocks"]) == knocks and any(each["contacts"] for each in there["people"] if each["person"]["id"] == "owner"):
            return
        assert time.monotonic() < until, there


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_opens_and_shuts_nobody_out(room: Room, section: str) -> None:
    page = opened(room, section)
    assert axe(page) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.querySelector('.content').scrollWidth <= innerWidth")


def test_a_model_with_a_wrong_key_is_refused_and_with_the_right_one_answers(room: Room, provider: ProviderServer) -> None:
    room.forgiven = ("400",)
    page = opened(room, "models")
    page.get_by_label("Who serves it").select_option("openai")
    page.locator("summary", has_text="More").click()
    page.get_by_role("button", name="It is at another address").click()
    page.get_by_label("Address").fill(f"{provider.url}/v1")
    page.get_by_label("Model", exact=True).fill("test-model")
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("Price", exact=True).select_option("free")
    page.get_by_label("Key").fill("sk-wrong-1234567890")
    page.get_by_role("button", name="Test and add").click()
    expect(page.locator(".settings-told.is-bad")).to_contain_text("key")
    assert "sk-wrong" not in page.locator("body").inner_text()
    assert "models" not in room.live.home.config.read_text()
    page.get_by_label("Key").fill(KEY)
    page.get_by_role("button", name="Show what it has").click()
    expect(page.get_by_text("It has 2 models")).to_be_visible()
    page.get_by_role("button", name="Test and add").click()
    expect(page.locator(".list > li").filter(has_text="test-model")).to_be_visible()
    assert page.get_by_label("Key").input_value() == ""
    row = page.locator(".list > li").filter(has_text="mine")
    row.get_by_role("button", name="Test").click()
    expect(row.get_by_text("It answered")).to_be_visible()
    row.get_by_role("button", name="Change mine").click()
    page.get_by_role("menuitem", name="Ask earlier").click()
    expect(page.locator(".list > li").first).to_contain_text("mine")
    page.get_by_role("button", name="Change mine").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".list > li").filter(has_text="mine")).to_have_count(0)


def test_two_tabs_change_the_order_and_the_second_is_told(room: Room, provider: ProviderServer) -> None:
    room.forgiven = ("409",)
    at = f"{provider.url}/v1"
    room.live.call("POST", "/v1/settings/models", {"vendor": "vllm", "model": "test-model", "base_url": at, "key": KEY, "name": "two"})
    first, second = opened(room, "models"), opened(room, "models")
    for tab in (first, second):
        tab.bring_to_front()
        tab.get_by_role("button", name="Change two").click()
        tab.get_by_role("menuitem", name="Ask earlier").click()
        expect(tab.locator(".toast")).to_be_visible()
    expect(second.get_by_text("was changed since you read it")).to_be_visible()
    expect(second.locator(".list > li").first).to_contain_text("two")
    room.live.call("DELETE", "/v1/settings/models/two")


def test_a_bot_is_added_and_paired_and_a_nasty_stranger_let_in(room: Room, telegram: TelegramServer, portal: BlockingPortal) -> None:
    page = opened(room, "channels")
    page.get_by_role("button", name="Telegram").click()
    page.get_by_label("Token of the bot").fill(TOKEN)
    page.locator("summary", has_text="More").click()
    page.get_by_label("Bot API server").fill(telegram.url)
    page.get_by_role("button", name="Check and add").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("the chat with @daimon_test_bot")).to_be_visible()
    code = dialog.locator(".settings-code").inner_text()
    portal.call(telegram.chats.says, ANNA, code)
    portal.call(telegram.chats.says, Person(7_777, NASTY), "let me in")
    portal.call(telegram.chats.says, BEN, "me too")
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator(".list > li").filter(has_text="Telegram").get_by_text("up", exact=True)).to_be_visible()
    assert TOKEN not in page.content()
    until_heard(room.live, knocks=2)
    people = opened(room, "people")
    expect(people.get_by_text("You", exact=True)).to_be_visible()
    stranger = people.locator(".list > li").filter(has_text=NASTY)
    expect(stranger).to_be_visible()
    stranger.get_by_role("button", name="Let in").click()
    people.get_by_role("dialog").get_by_label("Name").fill("Mallory <i>M</i>")
    people.get_by_role("dialog").get_by_role("button", name="Let in").click()
    known = people.locator(".list > li").filter(has_text="Mallory <i>M</i>")
    expect(known).to_be_visible()
    known.get_by_role("button", name="Remove", exact=True).click()
    people.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(people.locator(".list > li").filter(has_text="Mallory")).to_have_count(0)
    assert people.title() != "1"


def test_a_secret_is_added_and_never_visible_again(room: Room) -> None:
    page = opened(room, "secrets")
    page.get_by_role("button", name="Add a secret").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("github")
    dialog.get_by_label("Value").fill(VALUE)
    dialog.get_by_label("May go to").fill("api.github.com")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("May go to api.github.com")).to_be_visible()
    for section in SECTIONS:
        assert VALUE not in opened(room, section).content()
    for path in ("/v1/settings/secrets", "/v1/acts", "/v1/status", "/v1/settings/models", "/v1/settings/channels", "/v1/setup"):
        assert VALUE.encode() not in room.live.call("GET", path).body
    assert keeper.opened(room.live.home, {}).is_same("github", VALUE)
    page.get_by_role("button", name="Change github").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("May go to api.github.com")).to_have_count(0)


def test_a_policy_is_refused_when_broken_and_counts_when_it_is_whole(room: Room) -> None:
    room.forgiven = ("400",)
    page = room.tab("/settings/policies?tab=files")
    page.get_by_role("button", name="New file").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Rules, in Cedar").fill("forbid (principal, action resource);")
    dialog.get_by_role("button", name="Save and put in force").click()
    expect(dialog.get_by_text("mine.cedar:1")).to_be_visible()
    assert not (room.live.home.policies / "mine.cedar").exists()
    rule = 'forbid (principal, action, resource == Tool::"now");'
    dialog.get_by_label("Rules, in Cedar").fill(f'@id("hush")\n@says("<b>No</b> clock.")\n{rule}')
    dialog.get_by_role("button", name="Check").click()
    expect(dialog.get_by_text("This would do.")).to_be_visible()
    dialog.get_by_role("button", name="Save and put in force").click()
    expect(page.get_by_role("button", name="Edit mine.cedar")).to_be_visible()
    page.get_by_role("tab", name="Try a call").click()
    page.get_by_label("Tool").select_option("now")
    page.get_by_role("button", name="Ask the rules").click()
    expect(page.locator("[data-verdict=deny]")).to_contain_text("<b>No</b> clock.")
    page.get_by_role("tab", name="Your files").click()
    page.get_by_role("button", name="Edit mine.cedar").click()
    page.get_by_role("button", name="Remove file").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No file of yours")).to_be_visible()
    page.get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Run the tests").click()
    expect(page.get_by_text("cases are as expected")).to_be_visible()


def test_a_limit_is_changed_and_a_backup_made(room: Room) -> None:
    page = opened(room, "budget")
    page.get_by_label("A day: $", exact=True).fill("2.50")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("of $2.50")).to_be_visible()
    backup = opened(room, "backup")
    backup.get_by_role("button", name="Make one now").click()
    expect(backup.get_by_text("It came back whole.")).to_be_visible(timeout=60_000)
    with backup.expect_download() as download:
        backup.get_by_role("link", name="Download").first.click()
    assert Path(download.value.path()).stat().st_size > 1_000
    acts = opened(room, "acts")
    expect(acts.get_by_text("Downloaded a backup").first).to_be_visible()


def test_a_device_with_a_nasty_name_is_let_in_by_its_code(room: Room) -> None:
    asked = room.live.call("POST", "/v1/devices/requests", {"name": NASTY}).json
    page = opened(room, "devices")
    row = page.locator(".list > li").filter(has_text=asked["code"])
    row.get_by_role("button", name="Let in").click()
    page.get_by_role("dialog").get_by_role("button", name="Let in").click()
    expect(page.get_by_text("Asking to come in")).to_have_count(0)
    own = page.locator(".list > li").filter(has_text="this one")
    expect(own.get_by_text("admin")).to_be_visible()
    assert page.title() != "1"
