"""Works on layers until it is killed: `python -m lab.mason ROOT BASE DIAL`. Takes a wish a line from its input, says a line when it is
done. Its workspace is open all the time, a fork of it while it is used: so everything is exchanged under an open tree.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from daimon.abi.workspace import CheckpointId, Outcome, WorkspaceId
from daimon.machine.clock import SystemClock
from daimon.sandbox.files.rights import Rights
from daimon.sandbox.plan import UID
from daimon.sites import Site, Sites
from lab import fuse

IDLE_S = 600.0


class Mason:
    def __init__(self, sites: Sites, own: WorkspaceId) -> None:
        self._sites, self._own = sites, own

    async def does(self, wish: dict[str, Any]) -> Any:
        match wish["do"]:
            case "look":
                fork = await self._fork()
                return {"own": await self._tree(self._own), "fork": await self._tree(fork) if fork else None}
            case "write":
                return await self._write(await self._fork() if wish["in_fork"] else self._own, wish["files"])
            case "checkpoint":
                return (await self._sites.checkpoint(self._own, "by the mason")).id
            case "fork":
                return (await self._sites.fork(self._own, "fork")).id
            case "discard":
                return await self._sites.discard(WorkspaceId(await self._fork()))
            case _:
                return _came_of(await self._moved(wish))

    async def _moved(self, wish: dict[str, Any]) -> Outcome:
        match wish["do"]:
            case "restore":
                return await self._sites.restore(self._own, CheckpointId(wish["to"]))
            case "merge":
                return await self._sites.merge(WorkspaceId(await self._fork()), self._own)
            case "apply":
                return await self._sites.apply(self._own)
            case _:
                return await self._sites.undo(self._own)

    async def _fork(self) -> str:
        """Empty: there is none."""
        return next((each.id for each in await self._sites.list() if each.id != self._own), "")

    async def _tree(self, workspace: str) -> dict[str, str]:
        async with self._sites.on(WorkspaceId(workspace)) as site:
            with Rights(site.user):
                return read(_top(site))

    async def _write(self, workspace: str, files: dict[str, str | None]) -> None:
        """One file after the other, each with a name of its own first."""
        async with self._sites.on(WorkspaceId(workspace)) as site:
            with Rights(site.user):
                for path, text in files.items():
                    _put(_top(site) / path, text)


def _top(site: Site) -> Path:
    return Path(f"/proc/self/fd/{site.place}/{site.name}")


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.rename(path)


def _came_of(outcome: Outcome) -> dict[str, Any]:
    return {"moved": outcome.before != outcome.after, "conflicts": [f"{each.path}: {each.why}" for each in outcome.conflicts]}


def read(top: Path) -> dict[str, str]:
    """All files but those that a write was cut off in."""
    found = (Path(folder) / name for folder, _, names in os.walk(top) for name in names if not name.endswith(".txt.part"))
    return {str(path.relative_to(top)): path.read_text() for path in found}


async def main(root: Path, base: Path, dial: Path) -> None:
    fuse.attach_to_layers(dial)
    sites = await Sites.opened(root, base, UID, SystemClock(), IDLE_S)
    own = await sites.own()
    async with AsyncExitStack() as staying:
        await staying.enter_async_context(sites.on(own))
        mason = Mason(sites, own)
        print(json.dumps({"ready": own}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps({"done": await mason.does(json.loads(line))}), flush=True)
    await sites.close()


if __name__ == "__main__":
    asyncio.run(main(*(Path(word) for word in sys.argv[1:])))
