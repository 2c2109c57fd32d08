"""A real CalDAV server on loopback, and the driver in front of it, through the real way out."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.net.rig import Names
from tests.net.test_web import Vault
from tests.ports import free_port

from daimon.abi.calendar import Event
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.secret import Injection
from daimon.abi.tool import Call
from daimon.calendars.account import Access, Account
from daimon.calendars.caldav import CalDav
from daimon.machine.clock import SystemClock
from daimon.net.client import WebClient

DEADLINE_S = 60.0
HOST, USER, PASSWORD = "cal.test", "ada", "correct horse battery"
BERLIN = ZoneInfo("Europe/Berlin")
CALL = Call(Key("t1:4"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "terminal"), None, datetime(2026, 3, 13, tzinfo=UTC), owned("t"))


@dataclass
class Server:
    """Radicale with one calendar, `work`. Events are files, so a test can be whoever else writes there."""

    port: int
    folder: Path
    user: str = USER
    vault: Vault = field(default_factory=Vault)

    @property
    def work(self) -> Path:
        return self.folder / "collection-root" / self.user / "work"

    def put(self, name: str, *lines: str, uid: str = "") -> None:
        """An event as another program wrote it."""
        body = "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y", *lines, "END:VCALENDAR", ""))
        (self.work / f"{name}.ics").write_text(body.replace("UID:?", f"UID:{uid or name}"), encoding="utf-8", newline="")

    def texts(self) -> dict[str, str]:
        return {file.stem: file.read_text(encoding="utf-8") for file in sorted(self.work.glob("*.ics"))}

    def web(self) -> WebClient:
        value = PASSWORD.encode()
        self.vault.known["cal"] = Injection("cal", b"x" * len(value), value, (f"{HOST}:80",))
        local = {HOST: ("127.0.0.1", self.port)}
        return WebClient(resolver=Names(), local=local, secrets=self.vault, clock=SystemClock())

    def access(self, **more) -> Access:
        return Access(
            **{"name": "work", "url": f"http://{HOST}/{self.user}/work/", "user": self.user, "secret": "cal", "is_own": True, **more}
        )

    def calendars(self, **more) -> CalDav:
        """A driver that has seen nothing yet."""
        return CalDav({"work": Account(self.access(**more), self.web())}, "work", BERLIN)

    def make(self) -> "Server":
        """The calendar, empty."""
        self.work.mkdir(parents=True)
        props = {"tag": "VCALENDAR", "D:displayname": "Work", "C:supported-calendar-component-set": "VEVENT"}
        (self.work / ".Radicale.props").write_text(json.dumps(props))
        return self

    async def events(self, since: str, until: str, **more) -> tuple[Event, ...]:
        async with asyncio.timeout(DEADLINE_S):
            found = await self.calendars(**more).events(at(since), at(until), "", CALL)
        assert not found.note
        return found.events


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


def calling(key: str) -> Call:
    return replace(CALL, key=Key(key))


def vevent(*lines: str) -> tuple[str, ...]:
    return ("BEGIN:VEVENT", "UID:?", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT")


@contextmanager
def serving(folder: Path, users: int = 1) -> Iterator[Server]:
    """A server that knows `ada` and as many like her as are wanted: ada1, ada2, …"""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "users").write_text("".join(f"{USER}{i or ''}:{PASSWORD}\n" for i in range(users)))
    (folder / "config").write_text(
        f"[server]\nhosts = 127.0.0.1:{port}\n[auth]\ntype = htpasswd\nhtpasswd_filename = {folder}/users\n"
        f"htpasswd_encryption = plain\ndelay = 0\n[storage]\nfilesystem_folder = {folder}\n[logging]\nlevel = error\n"
    )
    command = (sys.executable, "-m", "radicale", "--config", str(folder / "config"))
    process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield Server(port, folder)
    finally:
        process.terminate()
        process.wait(DEADLINE_S)


def _wait_for(port: int) -> None:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.02)  # it is another program: nothing else says when it listens
    raise TimeoutError(f"radicale does not listen on {port}")
