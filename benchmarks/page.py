"""Claim: the control room loads under 60 kB, and a token is on the screen within 30 ms of the moment at which the model hands it over.

The real `./daimon up` and a real chromium with an empty cache. `first_load_kb` is what the network carried, compressed, for everything that
the chat asks for until it rests; `token_…_ms` is from the model's hands to the painted frame, over the gateway and the page's WebSocket.
Beside it, in the same run, a bare WebSocket with a page of five lines (`floor_p95_ms`): what any page takes here. `rss_mb` is the
gateway with eight tabs on a conversation of 5,000 messages, `elements` what such a tab holds of it.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from lab import report
from lab.bare_page import bare_page
from lab.process import Process
from lab.screen import LOOK, Absent, Load, chromium, delays_ms, first_paint_ms
from playwright.async_api import Browser, BrowserContext

SETTINGS = 'extensions = ["lab.stamps"]\nmodel.use = "stamps"\nbackup.every = "off"\n'
LONG = "long"
TABS = 8
AIM_KB, AIM_P95_MS = 60.0, 30.0


async def entered(browser: Browser, process: Process) -> BrowserContext:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    await context.add_init_script(LOOK)
    link = await process.call("POST", "/v1/links", {})
    page = await context.new_page()
    await page.goto(link.data["urls"][0])
    await page.wait_for_url(lambda url: "/enter" not in url)
    await page.close()
    return context


async def first_load(browser: Browser, process: Process) -> dict[str, float]:
    """With an empty cache, and the session that a browser keeps."""
    with_session = await entered(browser, process)
    kept = await with_session.storage_state()
    await with_session.close()
    context = await browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=kept, service_workers="block")
    page = await context.new_page()
    load = await Load.of(context, page)
    await page.goto(f"http://127.0.0.1:{process.port}/?c=main", wait_until="networkidle")
    painted = await first_paint_ms(page)
    await context.close()
    return {"first_load_kb": round(load.bytes / 1000, 1), "requests": len(load.addresses), "first_paint_ms": round(painted, 1)}


async def token_delays(browser: Browser, process: Process, count: int) -> list[float]:
    context = await entered(browser, process)
    page = await context.new_page()
    await page.goto(f"http://127.0.0.1:{process.port}/?c=stream")
    await page.get_by_text("Connected", exact=True).wait_for()
    await process.event({"type": "message", "text": f"stamps {count}", "conversation": "stream"}, "stream")
    found = await delays_ms(page, count)
    await context.close()
    return found


async def floor_delays(browser: Browser, count: int) -> list[float]:
    context = await browser.new_context()
    await context.add_init_script(LOOK)
    async with bare_page(count) as url:
        page = await context.new_page()
        await page.goto(url)
        found = await delays_ms(page, count)
    await context.close()
    return found


async def fill(process: Process, messages: int) -> None:
    """Half of them said, half answered."""
    for n in range(messages // 2):
        taken = await process.event({"type": "message", "text": f"line {n} of a long talk", "conversation": LONG}, f"long-{n}")
        assert taken.status == 202, taken.body
    while await under_way(process):  # noqa: ASYNC110 - another process works; it can only be asked
        await asyncio.sleep(0.5)


async def under_way(process: Process) -> bool:
    return any([(await process.call("GET", f"/v1/turns?state={state}&limit=1")).data for state in ("queued", "running")])


async def many_tabs(browser: Browser, process: Process) -> dict[str, float]:
    context = await entered(browser, process)
    pages = [await context.new_page() for _ in range(TABS)]
    for page in pages:
        await page.goto(f"http://127.0.0.1:{process.port}/?c={LONG}")
        await page.locator(".turn-foot").last.wait_for(timeout=120_000)
    elements = await pages[0].evaluate("document.querySelectorAll('*').length")
    memory = rss_mb(process.pid)
    await context.close()
    return {"rss_mb": round(memory, 1), "elements": elements}


def rss_mb(pid: int) -> float:
    kilobytes = next(line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(kilobytes) / 1024


async def measured(place: Path, quick: bool) -> dict[str, float]:
    home = place / "home"
    home.mkdir(mode=0o700)
    (home / "daimon.toml").write_text(SETTINGS)
    count, messages = (200, 200) if quick else (1_000, 5_000)
    process = await Process.start(home)
    try:
        await process.ready()
        async with chromium() as browser:
            await process.event({"type": "message", "text": "hello", "conversation": "main"}, "first")
            fields = await first_load(browser, process)
            tokens, floor = await token_delays(browser, process, count), await floor_delays(browser, count)
            await fill(process, messages)
            fields |= await many_tabs(browser, process)
    finally:
        process.kill()
        await process.exit()
    p50, p95 = report.percentile(tokens, 0.5), report.percentile(tokens, 0.95)
    floor_p95 = report.percentile(floor, 0.95)
    return {
        **fields,
        "token_p50_ms": round(p50, 1),
        "token_p95_ms": round(p95, 1),
        "floor_p95_ms": round(floor_p95, 1),
        "ratio_p95": round(p95 / floor_p95, 2),
        "tokens": len(tokens),
        "messages": messages,
        "tabs": TABS,
    }


async def main() -> int:
    asked = report.options(__doc__)
    try:
        with tempfile.TemporaryDirectory(prefix="daimon-page-") as place:
            fields = await measured(Path(place), asked.quick)
    except Absent as why:
        print(f"not measured: {why}", file=sys.stderr)
        return 1
    aims = {
        f"the first load takes less than {AIM_KB:g} kB": fields["first_load_kb"] < AIM_KB,
        f"a token is on the screen within {AIM_P95_MS:g} ms (p95)": fields["token_p95_ms"] < AIM_P95_MS,
    }
    return report.finish(asked, fields, aims=aims)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
