"""An owner who follows the README of an example: the real command line and a real gateway process on a home of its own, with the outside
world on loopback in this process. The gateway may be killed at any moment."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from daimon.testing.provider.server import KEY, ProviderServer
from daimon.testing.telegram.server import TelegramServer

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120
_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


@dataclass(slots=True)
class Owner:
    home: Path
    variables: dict[str, str]
    secrets: dict[str, str]
    """What is typed unseen, by the name of the secret."""
    process: asyncio.subprocess.Process | None = None
    url: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DAIMON_")}
        path = f"{self.home.parent}{os.pathsep}{os.environ['PATH']}"
        ours = {"PYTHONPATH": str(ROOT / "src"), "PATH": path, "DAIMON_HOME": str(self.home), "HOME": str(self.home.parent)}
        return {**kept, **ours, **self.variables}

    async def follow(self, readme: Path, block: int) -> list[str]:
        """Runs the commands of a block of the README, as they stand there. What each printed."""
        lines = commands(readme, block)
        return [await self._run("sh", "-c", line, given=self._typed(line)) for line in lines]

    async def daimon(self, *words: str) -> str:
        return await self._run(sys.executable, "-m", "daimon", *words)

    async def told(self, *words: str) -> Any:
        return json.loads(await self.daimon(*words, "--json"))

    def _typed(self, line: str) -> str:
        return next((value for name, value in self.secrets.items() if f"secrets add {name}" in line), "")

    async def _run(self, *command: str, given: str = "") -> str:
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
        process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=self.environment, **pipes)
        async with asyncio.timeout(DEADLINE_S):
            out, err = await process.communicate(given.encode())
        assert process.returncode == 0, (command, out.decode(), err.decode())
        return out.decode()

    async def up(self) -> None:
        command = (sys.executable, "-m", "daimon", "up", "--port", "0", "--json")
        log = (self.home.parent / "gateway.log").open("ab")
        self.process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env=self.environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=log
        )
        log.close()
        assert self.process.stdout is not None
        async with asyncio.timeout(DEADLINE_S):
            ready = await self.process.stdout.readline()
        assert ready, (self.home.parent / "gateway.log").read_text(encoding="utf-8")
        self.url = json.loads(ready)["ready"]

    async def kill(self) -> None:
        """As when the plug is pulled."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()

    async def pulled_plug(self) -> None:
        await self.kill()
        await self.up()

    async def pair(self, telegram: TelegramServer, who: Any) -> None:
        telegram.chats.says(who, (await self.told("people", "invite"))["code"])
        await until(lambda: len(telegram.chats.seen(who.id)) == 1)

    async def asked(self, path: str, method: str = "GET", body: object = None) -> Any:
        """Over HTTP, as the owner's own programs do."""
        head = {"Authorization": f"Bearer {(self.home / 'token').read_text().strip()}"}
        async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client:
            answer = await client.request(method, f"{self.url}{path}", headers=head, json=body)
        assert answer.status_code < 300, (path, answer.text)
        return answer.json()

    async def tick(self, automation: str) -> str:
        outcome: str = (await self.asked(f"/v1/automations/{automation}/run", "POST"))["outcome"]
        return outcome

    async def quiet(self, automation: str, turns: int) -> None:
        """Waits until so many of its turns are over."""

        async def is_quiet() -> bool:
            found = await self.asked(f"/v1/turns?conversation=automations/{automation}&limit=100")
            return sum(turn["state"] == "done" for turn in found) >= turns

        await until_so(is_quiet)


def commands(readme: Path, block: int) -> list[str]:
    return _BLOCK.findall(readme.read_text(encoding="utf-8"))[block].strip().splitlines()  # type: ignore[no-any-return]


async def until(is_so: Callable[[], bool]) -> None:
    async def look() -> bool:
        return is_so()

    await until_so(look)


async def until_so(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await is_so():  # noqa: ASYNC110 - the truth is in another process, which has no event to wait for
            await asyncio.sleep(0.05)


async def settle_in(me: Owner, more: str, provider: ProviderServer, telegram: TelegramServer) -> None:
    """What belongs to a place and not to the example: where the model and the outside world are here."""
    await me.daimon("secrets", "scope", "telegram", "--host", telegram.url.removeprefix("http://"))
    there = f'vendor = "compatible"\nmodel = "test-model"\nbase_url = "{provider.url}/v1"\nkey = "env:HERE_KEY"\nprice = "free"'
    model = f"\n[models.here]\n{there}\n"
    with (me.home / "daimon.toml").open("a", encoding="utf-8") as file:
        file.write(f'{model}\n[model]\nuse = "here"\n[memory]\nembeddings = "off"\n{more}')


@asynccontextmanager
async def owner(tmp_path: Path, telegram: TelegramServer, variables: dict[str, str], secrets: dict[str, str]) -> AsyncIterator[Owner]:
    home = tmp_path / "home"
    program = tmp_path / "daimon"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m daimon "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    ours = {"DAIMON_CHANNELS__TELEGRAM__API": telegram.url, "HERE_KEY": KEY}
    found = Owner(home, {**ours, **variables}, {"telegram": telegram.token, **secrets})
    try:
        yield found
    finally:
        if found.process is not None and found.process.returncode is None:
            await found.kill()
