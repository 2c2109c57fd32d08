"""Which watcher looks at what. What nobody serves is not in it: a watch of that kind fails with a word on what is missing."""

from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.box import Box
from daimon.abi.errors import WatchFailed
from daimon.abi.hook import Hooks
from daimon.abi.ids import HOME_SPACE
from daimon.abi.resources import Resources
from daimon.abi.watch import Look, Watch, Watcher
from daimon.abi.web import Web
from daimon.heartbeat.watchers.feed import FeedWatcher
from daimon.heartbeat.watchers.files import FilesWatcher, Ground
from daimon.heartbeat.watchers.hook import HookWatcher
from daimon.heartbeat.watchers.mailbox import MailboxWatcher, NewMail
from daimon.heartbeat.watchers.output import OutputWatcher
from daimon.heartbeat.watchers.page import PageWatcher
from daimon.heartbeat.watchers.refs import RefsWatcher


@dataclass(frozen=True, slots=True)
class Absent:
    """In the place of a watcher that cannot look here."""

    why: str

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        raise WatchFailed(self.why)


def watchers(
    *, web: Web, ground: Ground, boxes: Resources[Box] | None, hooks: Hooks | None, mail: NewMail | None = None
) -> dict[str, Watcher]:
    """By the kind of watch. `ground`: the workspace; `mail`: of the mail channel."""
    return {
        "feed": FeedWatcher(web),
        "page": PageWatcher(web),
        "files": FilesWatcher(ground),
        "refs": RefsWatcher(web),
        "output": Absent("no box can be made on this machine, so no command is run; see `daimon doctor`")
        if boxes is None
        else OutputWatcher(boxes),
        "hook": Absent("there are no webhooks here") if hooks is None else HookWatcher(hooks, HOME_SPACE),
        "mailbox": Absent("no mail channel is set up; see [channels.mail] in the settings") if mail is None else MailboxWatcher(mail),
    }
