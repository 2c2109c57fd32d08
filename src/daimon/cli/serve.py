"""`daimon up`: the gateway in the foreground.

stdout gets one line, when connections succeed. The first signal drains (no new turns, those under way get some seconds to rest), a second
one ends the process on the spot; the journal is made for that.
"""

import asyncio
import shutil
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from daimon import boot, keeper
from daimon.cli import hidden, screen, service_user
from daimon.cli.awake import is_awake
from daimon.cli.failures import log_in_lines
from daimon.config import Home
from daimon.gateway.server import USUAL_PORT

REFLEX = "reflex"
NO_MODEL = "model  only the small built-in one; `daimon model add` connects a better one"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def up(given: Path | None, port: int | None, user: str | None, as_json: bool) -> None:
    log_in_lines()
    home = boot.home_at(given) if user is None else boot.become(user, given)
    is_awake(home)  # a command that is at work there is done in a moment
    _run(_serve(home, port, as_json, hidden.passphrase_ahead(home)))


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _serve(home: Home, port: int | None, as_json: bool, ask: keeper.Ask) -> None:
    told = _told_to_end()
    async with boot.running(home, boot.settings_of(home), port, ask) as daimon:
        if as_json:
            screen.emit_value({"ready": daimon.url, "home": str(home.path)})
        else:
            print(f"ready {daimon.url}", flush=True)
        sys.stderr.write(_hints(home))
        sys.stderr.flush()
        for warning in daimon.warnings:
            screen.remark(warning, "yellow")
        if port is None and (taken := _taken(home, daimon.url)):
            screen.remark(taken, "yellow")
        if sys.stderr.isatty() and daimon.is_root:
            screen.verbatim(service_user.offer())
        offering = asyncio.ensure_future(_offer(home))
        ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(told.wait()), daimon.failed]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        ends[0].cancel()
        offering.cancel()
        if daimon.failed.done():
            raise daimon.failed.result()


def _taken(home: Home, url: str) -> str:
    """That the usual port was not to be had; empty: it was, or another is wanted."""
    number = url.rpartition(":")[2]
    if boot.settings_of(home).gateway.port is not None or number == str(USUAL_PORT):
        return ""
    return (
        f"port {USUAL_PORT} is taken by another program, so this listens on {number}, and on another one after the next start; "
        f"`ss -ltnp sport = :{USUAL_PORT}` shows who has it, gateway.port or --port takes one for good"
    )


async def _offer(home: Home) -> None:
    """Says which models could be used, where only the built-in one is."""
    settings = boot.settings_of(home)
    if settings.model.use == (REFLEX,):
        from daimon import setup

        lines = await setup.offers(home, settings)
        for line in lines or [NO_MODEL]:
            screen.remark(line)


def _told_to_end() -> asyncio.Event:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        told.set()
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, end)
    return told


def _hints(home: Home) -> str:
    lines = [
        f"home   {home.path}",
        "room   daimon open, for the control room in your browser",
        "chat   daimon chat, in another terminal with the same --home",
        f"HTTP   wants the header `Authorization: Bearer TOKEN`; the token is in {home.path}/token",
        "stop   Ctrl-C",
    ]
    if shutil.which("daimon") is None and (here := service_user.program()) != "daimon":
        lines.insert(1, f"name   `daimon` is {here} here; `ln -s {here} ~/.local/bin/` makes it a command")
    return "".join(screen.readable(line, " " * len("home   ")) + "\n" for line in lines)
