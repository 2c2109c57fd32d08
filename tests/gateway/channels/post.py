"""A mail channel with real servers behind it, and a reception that notes what it is given."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from daimon.abi.channel import Arrival, Message
from daimon.abi.errors import JournalFailed
from daimon.abi.ids import BlobHash
from daimon.gateway.channels.mail import MailChannel
from daimon.gateway.mail.account import Account
from daimon.testing.mail.dovecot import PASSWORD, Dovecot
from daimon.testing.mail.submission import AUTHSERV_ID, Submission

AGENT = "agent@example.org"
ALICE = "alice@example.org"
DEADLINE_S = 60.0


class Values:
    """Content-addressed values, in memory."""

    def __init__(self) -> None:
        self.kept: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        blob = BlobHash(sha256(data).hexdigest())
        self.kept[blob] = data
        return blob

    async def get(self, blob: BlobHash) -> bytes:
        return self.kept[blob]


class Desk:
    """Takes everything in, once a key, and says when something came."""

    most_bytes = 1024 * 1024

    def __init__(self) -> None:
        self.values = Values()
        self.arrived: list[Message] = []
        self.repeated = 0
        self.remembered: dict[str, str] = {}
        self.is_full = False
        self.strangers: set[str] = set()
        self._changed = asyncio.Condition()

    async def take(self, arrival: Arrival) -> str:
        assert isinstance(arrival, Message)
        if self.is_full:
            raise JournalFailed("no room")
        if any(arrival.key == one.key for one in self.arrived):
            self.repeated += 1
        else:
            self.arrived.append(arrival)
        return ""

    async def is_known(self, sender: str) -> bool:
        return sender not in self.strangers

    async def keep(self, data: bytes) -> BlobHash:
        return await self.values.put(data)

    async def recall(self, channel: str, name: str) -> str:
        return self.remembered.get(f"{channel}/{name}", "")

    async def remember(self, channel: str, name: str, value: str) -> None:
        async with self._changed:
            self.remembered[f"{channel}/{name}"] = value
            self._changed.notify_all()

    @property
    def read_up_to(self) -> int:
        return int(json.loads(self.remembered["mail/inbox"])["uid"]) if self.remembered else -1

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE_S), self._changed:
            await self._changed.wait_for(is_so)

    async def until_read(self, uid: int) -> None:
        await self.until(lambda: self.read_up_to >= uid)


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Post:
    dovecot: Dovecot
    submission: Submission
    account: Account
    desk: Desk = field(default_factory=Desk)
    clock: Any = field(default_factory=WallClock)
    idle_s: float = 300.0

    @property
    def channel(self) -> MailChannel:
        return MailChannel(self.account, self.clock, self.desk.values, self.idle_s)

    def with_account(self, **changes: Any) -> "Post":
        return replace(self, account=replace(self.account, **changes))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[asyncio.Task[None]]:
        """The channel listens, and has begun to."""
        before = dict(self.desk.remembered)
        task = asyncio.create_task(self.channel.serve(self.desk))
        try:
            if not before:
                await self.desk.until(lambda: bool(self.desk.remembered))
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, OSError, JournalFailed):
                await task

    def deliver(self, mail: str | bytes, user: str = AGENT) -> None:
        data = mail.replace("\n", "\r\n").encode() if isinstance(mail, str) else mail
        self.dovecot.deliver(user, data)


@asynccontextmanager
async def post(dovecot: Dovecot) -> AsyncIterator[Post]:
    async with Submission(dovecot) as submission:
        account = Account(
            AGENT, f"127.0.0.1:{dovecot.port}", f"127.0.0.1:{submission.port}", lambda: PASSWORD, security="none", authserv_id=AUTHSERV_ID
        )
        yield Post(dovecot, submission, account)


def letter(text: str = "Hello.", who: str = ALICE, to: str = AGENT, vouched: str = "", **head: str) -> str:
    """A mail as it lies in the mailbox: what the receiving server put on top, then what the sender wrote."""
    domain = who.rpartition("@")[2].strip("> ")
    results = vouched or f"dkim=pass header.d={domain}"
    lines = {
        "Authentication-Results": f"{AUTHSERV_ID}; {results}",
        "From": who,
        "To": to,
        "Subject": "A question",
        "Message-ID": "<one@example.org>",
    }
    lines |= {name.replace("_", "-"): value for name, value in head.items()}
    return "".join(f"{name}: {value}\n" for name, value in lines.items() if value) + f"\n{text}\n"
