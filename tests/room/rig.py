"""A real gateway that can be stopped and started under a page, and a real browser that is signed in to it."""

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.gateway.live import Live
from tests.ports import free_port

from daimon import boot, config
from daimon.machine.home import Home

DEADLINE_S = 60.0
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
SERIOUS = ("serious", "critical")
expect.set_options(timeout=DEADLINE_S * 1000)


def settings(**changes: Any) -> config.Settings:
    given: dict[str, Any] = {
        "extensions": ("tests.room.puppet",),
        "model": config.Model(use="puppet"),
        "kernel": config.Kernel(drain_s=0),
        "context": config.Context(patience_s=DEADLINE_S),  # what is shown of a turn does not depend on how busy the machine is
        "agents": {"daimon": config.Agent(role="reader")},  # it asks before every act
    }
    return config.Settings(**{**given, **changes})


@dataclass(slots=True)
class Gateway:
    """Runs in a thread of its own, on one port however often it is started."""

    home: Home
    settings: config.Settings
    port: int = field(default_factory=free_port)
    _thread: threading.Thread | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _told: asyncio.Event | None = None
    _failed: list[BaseException] = field(default_factory=list)

    def start(self) -> Live:
        is_up, self._loop, self._told = threading.Event(), asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._serve, args=(is_up,), name="gateway")
        self._thread.start()
        assert is_up.wait(2 * DEADLINE_S)
        if self._failed:
            raise self._failed[0]
        return self.live

    @property
    def live(self) -> Live:
        return Live(self.home, f"http://127.0.0.1:{self.port}", self.home.token())

    def stop(self) -> None:
        if self._thread is None or self._loop is None or self._told is None:
            return
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told.set)
        self._thread.join(3 * DEADLINE_S)
        assert not self._thread.is_alive()
        self._thread = None
        if self._failed:
            raise self._failed[0]

    def _serve(self, is_up: threading.Event) -> None:
        assert self._loop is not None
        try:
            self._loop.run_until_complete(self._run(is_up))
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread of the test
            self._failed.append(failure)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
            is_up.set()

    async def _run(self, is_up: threading.Event) -> None:
        assert self._told is not None
        async with boot.running(self.home, self.settings, port=self.port):
            is_up.set()
            await self._told.wait()


@contextmanager
def gateway(path: Path, **changes: Any) -> Iterator[Gateway]:
    made = Gateway(Home(path), settings(**changes))
    made.start()
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium on this machine (Debian package chromium)")
    switches = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=switches)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Room:
    """A signed-in browser. What its pages say on the console is kept; `quiet` fails if there was an error."""

    gateway: Gateway
    context: BrowserContext
    faults: list[str] = field(default_factory=list)
    forgiven: tuple[str, ...] = ()
    """Parts of faults that the test itself caused, such as a gateway that was stopped."""

    @property
    def live(self) -> Live:
        return self.gateway.live

    def tab(self, path: str = "/", size: dict[str, int] | None = None) -> Page:
        page = self.context.new_page()
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        if size:
            page.set_viewport_size(size)  # type: ignore[arg-type]
        page.goto(self.live.url + path)
        page.locator("#content").wait_for()
        return page

    def quiet(self) -> None:
        left = [fault for fault in self.faults if not any(part in fault for part in self.forgiven)]
        assert not left, left


def signed_in(browser: Browser, running: Gateway, **options: Any) -> BrowserContext:
    """As by a one-time link; without its page, which has tests of its own."""
    live = running.live
    secret = live.call("POST", "/v1/links", {}).json["urls"][0].partition("#")[2]
    ours = {"Origin": live.url, "Sec-Fetch-Site": "same-origin", "X-Daimon": "1", "Content-Type": "application/json"}
    entered = live.call_as("POST", "/v1/enter", {"secret": secret, "name": "chromium"}, ours)
    assert entered.status == 200, entered.body
    name, _, value = entered.headers["set-cookie"].partition(";")[0].partition("=")
    context = browser.new_context(base_url=live.url, viewport=DESK, **options)
    context.set_default_timeout(DEADLINE_S * 1000)
    context.add_cookies([{"name": name, "value": value, "url": live.url, "httpOnly": True, "sameSite": "Strict"}])
    return context


@contextmanager
def room_of(browser: Browser, running: Gateway) -> Iterator[Room]:
    """Signed in; whoever uses it fails if a page of it complained."""
    context = signed_in(browser, running)
    made = Room(running, context)
    try:
        yield made
        made.quiet()
    finally:
        context.close()


STILL = "Promise.all(document.getAnimations().filter(each => each.effect.getTiming().iterations !== Infinity).map(each => each.finished))"


def pressed(page: Page, *keys: str) -> None:
    """One after the other in one go: how fast they follow each other says what they mean, and a busy machine may be slow."""
    page.evaluate(
        """keys => {
            const event = key => new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
            for (const key of keys) document.activeElement.dispatchEvent(event(key))
        }""",
        keys,
    )


def axe(page: Page) -> list[str]:
    """What shuts people out of the page, seriously. A colour on its way from one to another is none yet."""
    page.wait_for_function(f"{STILL}.then(() => true, () => false)")
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in SERIOUS]
