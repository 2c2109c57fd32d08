"""What the API stands on: ports and parts that `boot` fills in. By name only, so that one more is one line here and one there."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from daimon.abi.automation import Clerk
from daimon.abi.chat import Chats
from daimon.abi.curator import Curator
from daimon.abi.figures import Measured
from daimon.abi.hook import Hooks
from daimon.abi.lesson import Lessons
from daimon.abi.memory import Amender, Memory
from daimon.abi.money import Account
from daimon.abi.ports import Clock, Followed, Ids, Ledger, Overview, Store
from daimon.abi.runs import Runs
from daimon.abi.secret import Redactor
from daimon.abi.server import Connectors
from daimon.abi.skill import Librarian
from daimon.abi.workspace import Seer, Trials
from daimon.gateway.access.routes import AccessRoutes
from daimon.gateway.answers import Reloaded, Status
from daimon.gateway.hooks.ready import Shelf
from daimon.gateway.hooks.receive import Receiver
from daimon.gateway.inbox import Inbox
from daimon.gateway.introductions import Introductions
from daimon.gateway.readiness import Readiness
from daimon.gateway.room.automations import Surroundings
from daimon.gateway.room.hooks import Base
from daimon.gateway.room.preview import Peek
from daimon.kernel.feed import Feed
from daimon.kernel.grants import Standing

if TYPE_CHECKING:
    from daimon.gateway.room.settings import Steward


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    access: AccessRoutes
    inbox: Inbox
    archive: Followed
    chats: Chats
    overview: Overview
    store: Store
    ledger: Ledger
    lessons: Lessons
    grants: Standing
    feed: Feed
    clock: Clock
    ids: Ids
    status: Callable[[], Awaitable[Status]]
    reload: Callable[[], Awaitable[Reloaded]]
    accounts: Callable[[], tuple[Account, ...]]
    """Those of today and this month."""
    warm: Callable[[], None]
    """Somebody listens, so somebody will speak."""
    redactor: Redactor
    workspaces: Seer
    trials: Trials
    curator: Curator
    memory: Memory
    """Of everybody, each by their own name."""
    amender: Amender
    introductions: Introductions
    hooks: Hooks
    shelf: Shelf
    receiver: Receiver
    clerk: Clerk
    readiness: Readiness
    runs: Runs
    peek: Peek
    """Into the workspace of an agent, for a person."""
    poke: Callable[[str], bool]
    """Try a channel again now. False: there is none of that name."""
    measured: Measured
    around: Callable[[], Awaitable[Surroundings]]
    base: Base
    connectors: Connectors
    librarian: Librarian
    steward: "Callable[[], Steward]"
    """Whoever changes how the home is set up, called in when the first entry is asked for."""
