"""What a browser tells of a page: what it loaded, when it painted, and when the stamps of `lab.stamps` came to the screen.

A stamp counts as seen in the task after the frame that paints it: the one that is being made when its text comes into the page, else the
next. The clocks are the same one: the browser's epoch and the gateway's.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

LOOK = """
window.seen = [];
const stamps = new Set(), ask = window.requestAnimationFrame.bind(window);
let inFrame = false;
window.requestAnimationFrame = (run) => ask((at) => {
  inFrame = true;
  try { run(at); } finally { queueMicrotask(() => { inFrame = false; }); }
});
function painted(then) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = then;
  if (inFrame) port2.postMessage(0);
  else ask(() => port2.postMessage(0));
}
function note(text) {
  const fresh = [];
  for (const [, at] of text.matchAll(/<(\\d{16})>/g)) if (!stamps.has(at)) { stamps.add(at); fresh.push(Number(at) / 1000); }
  if (fresh.length) painted(() => {
    const now = performance.timeOrigin + performance.now();
    for (const at of fresh) window.seen.push(now - at);
  });
}
new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === 'characterData') note(change.target.data.slice(-400));
    else for (const node of change.addedNodes) note((node.textContent ?? '').slice(-4000));
  }
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


class Absent(Exception):
    """There is no browser on this machine."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise Absent("there is no chromium on this machine (Debian package chromium)")
    switches = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=switches)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass(slots=True)
class Load:
    """What the network of one page carried."""

    bytes: int = 0
    addresses: list[str] = field(default_factory=list)

    @classmethod
    async def of(cls, context: BrowserContext, page: Page) -> "Load":
        load = cls()
        session = await context.new_cdp_session(page)
        await session.send("Network.enable")
        session.on("Network.loadingFinished", lambda told: load._add(int(told["encodedDataLength"])))
        session.on("Network.responseReceived", lambda told: load.addresses.append(told["response"]["url"]))
        return load

    def _add(self, size: int) -> None:
        self.bytes += size


async def first_paint_ms(page: Page) -> float:
    return float(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


async def delays_ms(page: Page, count: int) -> list[float]:
    await page.wait_for_function("count => window.seen.length >= count", arg=count, timeout=120_000)
    found: list[float] = await page.evaluate("window.seen")
    return found
