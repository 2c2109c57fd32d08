"""A library with all that brings skills: a workshop with a server on loopback that it may reach."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daimon.library.librarian import HomeLibrarian
from daimon.library.library import open_library
from daimon.library.sources import Sources
from daimon.library.trying import Trying
from daimon.machine.clock import SystemClock
from daimon.testing.upstream import Upstream
from daimon.workshop import NoSecrets, Sandboxes, Workshop

UID = 59_001


@dataclass(frozen=True, slots=True)
class Rig:
    librarian: HomeLibrarian
    server: Upstream
    top: Path


@asynccontextmanager
async def rig(tmp_path: Path, git_port: int = 0) -> AsyncIterator[Rig]:
    async with Upstream() as server:
        local = {"open.test": ("127.0.0.1", server.port), "git.test": ("127.0.0.1", git_port), "other.test": ("127.0.0.1", server.port)}
        sandboxes = Sandboxes(tmp_path / "home" / "roles", tmp_path / "work", UID, local, {}, "worker", True)
        shop = Workshop(sandboxes, NoSecrets(), SystemClock())
        (tmp_path / "home").mkdir(exist_ok=True)
        nobody: Any = None
        library = await open_library(tmp_path / "home" / "skills", SystemClock())
        try:
            librarian = HomeLibrarian(library, Sources(shop, shop.web()), nobody, Trying(library, shop, SystemClock()))
            yield Rig(librarian, server, tmp_path / "home" / "skills")
        finally:
            shop.close()
