"""The attack as it would come: a turn of the kernel, a model that was hijacked, the shell tools of the registry, a box of the workshop.

No policy stands in the way, the floor forbids nothing and nobody takes secrets out of texts: the box has to hold by itself. Whatever the
tool gives back is what the model would read next.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from daimon import keeper
from daimon.abi.ids import SELF
from daimon.abi.message import Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.abi.progress import unseen
from daimon.abi.step import Happened
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.sandbox.plan import UID
from daimon.tools.shell import shell_tools
from daimon.tools.terminal import Served, terminal_tools
from daimon.vault.store import Scope
from daimon.workshop import Sandboxes, WiredBox, Workshop
from lab import kernel
from lab.escape.attack import Said
from lab.escape.host import HOME, WORK, Host

Call = tuple[str, dict[str, object]]


class Hijacked(Unmetered):
    """Does the one thing that it was told to, then stops."""

    name = "hijacked"

    def __init__(self) -> None:
        self.orders: list[Call] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        if self.orders:
            tool, arguments = self.orders.pop(0)
            yield Reply((ToolCall(f"call-{id(arguments)}", tool, arguments),), self.name, "tools")  # type: ignore[arg-type]
        else:
            yield Reply((Text("done"),), self.name)


class OpenFloor:
    def forbids(self, manifest: object, arguments: object) -> str:
        return ""


class OpenRedactor:
    """What was stolen must be seen as it is."""

    version = 0

    def clean(self, text: str) -> str:
        return text

    def clean_known(self, text: str) -> str:
        return text


class Boxed:
    def __init__(self, house: kernel.House, model: Hijacked, workshop: Workshop, pool: object) -> None:
        self._house, self._model, self._workshop, self._pool = house, model, workshop, pool

    async def run(self, command: str, hosts: tuple[str, ...], timeout_s: float) -> Said:
        arguments: dict[str, object] = {"command": command, "timeout_s": timeout_s}
        if hosts:
            arguments["hosts"] = list(hosts)
        self._model.orders.append(("run_online" if hosts else "run", arguments))
        event = await self._house.say("go on")
        _, steps = await self._house.rested(event)
        found = [step.body for step in steps if isinstance(step.body, Happened)]
        text = "".join(part.text for each in found for part in each.result.parts if isinstance(part, Text))
        return Said(text, len(text), any(each.code == "lost" for each in found))

    async def renew(self) -> None:
        for standing in self._pool.standing():  # type: ignore[attr-defined]
            await self._pool.restart(standing.key, "the next attack")  # type: ignore[attr-defined]

    def boxes(self) -> list[WiredBox]:
        entries = self._pool._entries.values()  # type: ignore[attr-defined]  # no other way to the placeholder that this box has
        return [entry.resource for entry in entries if entry.resource is not None]


@asynccontextmanager
async def opened(place: Path, host: Host, role: str) -> AsyncIterator[Boxed]:
    home = Home(HOME / ".daimon")
    home.ensure()
    (home.path / "roles").mkdir(exist_ok=True)
    (home.path / "roles" / "escape.toml").write_text(role)
    vault = keeper.opened(home, os.environ)
    if not vault.has("api"):
        vault.add("api", f"key-{host.canaries['vault']}-{'z' * 12}", Scope(hosts=("api.test:80",), agents=("*",)))
    sandboxes = Sandboxes(home.path / "roles", WORK, UID, host.local(), {SELF: "escape"}, "escape", True)
    workshop = Workshop(sandboxes, vault, SystemClock())
    pool = workshop.pool(3_600, 4)
    model = Hijacked()
    tools = (*terminal_tools(Served(pool, workshop.outputs, unseen)), *shell_tools(pool, sandboxes.places()))
    async with kernel.opened(place, model, tools, "none", kernel.Unguarded(OpenFloor(), OpenRedactor())) as house:
        try:
            yield Boxed(house, model, workshop, pool)
        finally:
            await pool.close()
            vault.close()
