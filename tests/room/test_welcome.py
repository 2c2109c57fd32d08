"""The whole first run in a real browser: from an empty home to a working answer and an automation in the list."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Browser, expect
from tests.room.rig import PHONE, Room, axe, room_of
from tests.steward.rig import furnished

from daimon.testing.provider.line import Line
from daimon.testing.provider.server import KEY, ProviderServer
from daimon.testing.telegram.chats import ANNA
from daimon.testing.telegram.server import TOKEN, TelegramServer


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def provider(portal: BlockingPortal) -> Iterator[ProviderServer]:
    script = [Line(text="ok"), Line(text="Hello, I am here.")]
    server: AbstractContextManager[ProviderServer] = portal.wrap_async_context_manager(ProviderServer(script, models=("test-model",)))
    with server as opened:
        yield opened


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[TelegramServer]:
    server: AbstractContextManager[TelegramServer] = portal.wrap_async_context_manager(TelegramServer())
    with server as opened:
        yield opened


@pytest.fixture
def room(browser: Browser, tmp_path: Path) -> Iterator[Room]:
    with furnished(tmp_path / "home") as running, room_of(browser, running) as made:
        yield made


def test_from_an_empty_home_to_an_answer_and_an_automation(
    room: Room, provider: ProviderServer, telegram: TelegramServer, portal: BlockingPortal
) -> None:
    room.forgiven = ("400",)
    page = room.tab("/")
    page.wait_for_url("**/welcome")
    page.get_by_label("Who serves it").select_option("vllm")
    page.get_by_label("Address").fill(f"{provider.url}/v1")
    page.get_by_label("Model", exact=True).fill("test-model")
    page.get_by_role("button", name="Test and use it").click()
    expect(page.locator(".settings-told.is-bad")).to_contain_text("key")
    page.locator("summary", has_text="More").click()
    page.get_by_label("Key").fill(KEY)
    page.get_by_label("Price", exact=True).select_option("free")
    page.get_by_role("button", name="Test and use it").click()
    expect(page.get_by_text("It answered “ok”")).to_be_visible()
    page.get_by_role("button", name="Next").click()

    page.get_by_role("button", name="Telegram").click()
    page.get_by_label("Token of the bot").fill(TOKEN)
    page.locator("summary", has_text="More").click()
    page.get_by_label("Bot API server").fill(telegram.url)
    page.get_by_role("button", name="Check and add").click()
    portal.call(telegram.chats.says, ANNA, page.locator(".settings-code").inner_text())
    expect(page.get_by_text("Your chat is paired.")).to_be_visible()
    page.get_by_role("button", name="Next").click()

    page.get_by_label("A day, $").fill("1")
    page.get_by_role("button", name="Set the budget").click()
    expect(page.get_by_text("$1 a day")).to_be_visible()
    page.get_by_role("button", name="Next").click()

    expect(page.get_by_text("at most $0.25 a day").first).to_be_visible()
    page.get_by_role("button", name="Set up Morning brief").click()
    expect(page.get_by_text("Next time:")).to_be_visible()
    page.get_by_role("button", name="Next").click()

    page.get_by_label("Your message").fill("Who are you, in one sentence of your own?")
    page.get_by_role("button", name="Say it").click()
    page.wait_for_url("**/?c=*")
    expect(page.get_by_text("Hello, I am here.").first).to_be_visible()
    assert [each["automation"]["id"] for each in room.live.get("/v1/automations")] == ["morning-brief"]
    assert room.live.get("/v1/setup")["is_fresh"] is False


def test_every_step_can_be_skipped_and_running_it_again_wipes_nothing(room: Room) -> None:
    live = room.live
    live.call("POST", "/v1/setup/automations", {"id": "weekly-review", "schedule": "every friday at 17:00"})
    live.call("POST", "/v1/settings/secrets", {"name": "kept", "value": "a-value-that-stays"})
    before = live.home.config.read_bytes()
    page = room.tab("/welcome")
    for heading, skip in (("Who thinks?", "Use the built-in one"), ("How do you reach it?", "Skip")):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        page.get_by_role("button", name=skip).click()
    expect(page.get_by_role("heading", name="What may it cost?")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("[data-id=weekly-review]").get_by_text("set up", exact=True)).to_be_visible()
    expect(page.get_by_text("Only the built-in model is set up")).to_be_visible()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_role("heading", name="What may it cost?")).to_be_visible()
    page.get_by_role("link", name="First words").click()
    page.get_by_role("button", name="Go to the chat").click()
    page.wait_for_url(lambda url: url.endswith("/"))
    assert live.home.config.read_bytes() == before
    assert [secret["name"] for secret in live.get("/v1/settings/secrets")["secrets"]] == ["kept"]
    assert live.get("/v1/automations")[0]["schedule"].startswith("every friday at 17:00")


@pytest.mark.parametrize("step", ["model", "channel", "budget", "automation", "chat"])
def test_every_step_shuts_nobody_out_and_fits_a_phone(room: Room, step: str) -> None:
    page = room.tab(f"/welcome?step={step}")
    expect(page.locator(".welcome-foot")).to_be_visible()
    assert axe(page) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.querySelector('.content').scrollWidth <= innerWidth")
