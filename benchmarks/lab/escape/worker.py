"""Plays attacks on the throw-away machine, each without a box and then in one, and says what came of it. One JSON object on the last line.

python -m lab.escape.worker [--only NAME]... [--quick]
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import sys
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from daimon.sandbox.plan import UID
from lab.escape import boxed, utility
from lab.escape.attack import Attack, Said, Scene, numbers
from lab.escape.bare import Bare
from lab.escape.boxed import Boxed
from lab.escape.catalogue import FAMILIES
from lab.escape.host import WITHOUT_SECRET, Host, end_all
from lab.escape.meter import Meter, pids
from lab.escape.naive import Naive
from lab.escape.role import role

POLL_S = 0.05
ABSENT = ("refused -1 ENOSYS", "refused 97", "refused 93")
"""As a control says it: this kernel has no such call, no such family of sockets, no such protocol."""


class Shell(Protocol):
    async def run(self, command: str, hosts: tuple[str, ...], timeout_s: float) -> Said: ...


async def play(attack: Attack, host: Host, shell: Shell, known: dict[str, str]) -> tuple[bool, Scene]:
    scene = Scene(host, f"mark{secrets.token_hex(6)}")
    meter = Meter()
    watching = [asyncio.create_task(meter.watch())]
    seen = asyncio.Event()
    if attack.is_live:
        watching.append(asyncio.create_task(_look(attack, scene, seen)))
    try:
        scene.said = await shell.run(_filled(attack.command, scene, known), attack.hosts, attack.timeout_s)
        if attack.then is not None:
            second = await shell.run(_filled(attack.then[0], scene, known), attack.then[1], attack.timeout_s)
            scene.said = replace(second, text=scene.said.text + second.text)
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    scene.peak = meter.peak
    if attack.ends_box and isinstance(shell, Boxed):
        await shell.renew()
    ends_at = time.monotonic() + attack.settle_s
    while not (found := seen.is_set() or attack.judge(scene)) and time.monotonic() < ends_at:  # noqa: ASYNC110 - files tell nobody
        await asyncio.sleep(POLL_S)
    return found, scene


async def _look(attack: Attack, scene: Scene, seen: asyncio.Event) -> None:
    while not seen.is_set():
        with suppress(OSError):
            if attack.judge(scene):
                seen.set()
        await asyncio.sleep(POLL_S)


def _filled(command: str, scene: Scene, known: dict[str, str]) -> str:
    for name, value in (*known.items(), *scene.host.known.items(), ("mark", scene.mark)):
        command = command.replace("@{" + name + "}", value)
    return command


async def control(attack: Attack, host: Host, bare: Bare) -> tuple[bool, str]:
    host.reset()
    attack.prepare(host)
    kept = set(pids())
    bare.has_terminal = attack.has_terminal
    known = numbers(platform.machine()) | {"supervisor": host.known["victim"]}
    try:
        found, scene = await play(attack, host, bare, known)
        return found, scene.said.text
    finally:
        end_all(kept)


async def trial(attack: Attack, host: Host, box: Boxed) -> tuple[bool, str]:
    if attack.is_alone:
        await box.renew()
    host.reset()
    attack.prepare(host)
    known = numbers(platform.machine()) | {"supervisor": "1"}
    found, scene = await play(attack, host, box, known)
    if attack.is_alone or scene.said.is_lost:
        await box.renew()
    return found, scene.said.text


def _wanted(only: list[str], without: list[str]) -> dict[tuple[str, str], Attack]:
    """Those of that name or family, if there is something here to attack."""
    named = {(family, attack.name): attack for family, attacks in FAMILIES.items() for attack in attacks if family not in without}
    asked = {key: attack for key, attack in named.items() if not only or not {*key}.isdisjoint(only)}
    return {key: attack for key, attack in asked.items() if os.path.exists(attack.needs or "/")}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--without", action="append", default=[], help="a family")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--bare", action="store_true", help="controls only")
    parser.add_argument("--boxed", action="store_true", help="boxes only")
    parser.add_argument("--no-utility", action="store_true")
    asked = parser.parse_args()
    wanted = _wanted(asked.only, asked.without)
    host = Host(UID if os.getuid() == 0 else os.getuid())
    rows: dict[tuple[str, str], dict[str, object]] = {key: {"family": key[0], "name": key[1]} for key in wanted}
    async with AsyncExitStack() as stack:
        await host.start(stack)
        value = f"key-{host.canaries['vault']}-{'z' * 12}"
        await Naive(host, WITHOUT_SECRET, value).start(stack)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        box = await stack.enter_async_context(boxed.opened(place, host, role(sys.prefix)))
        bare = Bare(host)
        for key, attack in wanted.items() if not asked.boxed else ():
            begun = time.monotonic()
            rows[key]["control"], said = await control(attack, host, bare)
            rows[key]["is_absent"] = any(word in said for word in ABSENT)
            rows[key]["control_s"] = round(time.monotonic() - begun, 2)
            if asked.show:
                print("bare ", rows[key]["control"], key, repr(said[-300:]), file=sys.stderr)
        for key, attack in wanted.items() if not asked.bare else ():
            begun = time.monotonic()
            rows[key]["escaped"], said = await trial(attack, host, box)
            rows[key]["box_s"] = round(time.monotonic() - begun, 2)
            if asked.show:
                print("boxed", rows[key]["escaped"], key, repr(said[-300:]), file=sys.stderr)
        host.reset()
        await box.renew()
        useful = {} if asked.no_utility else await utility.run(host, box)
    print(json.dumps({"attacks": list(rows.values()), "utility": useful}))


if __name__ == "__main__":
    asyncio.run(main())
