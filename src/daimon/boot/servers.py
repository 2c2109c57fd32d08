"""The servers of the Model Context Protocol that the settings name. None of them keeps anything else waiting."""

from contextlib import AsyncExitStack
from functools import partial

from daimon.abi.codec import fingerprint
from daimon.abi.event import TO_OWNER, Event, Late
from daimon.abi.ids import HOME_SPACE, Conversation, EventId, Key, StepRef
from daimon.abi.label import Author, Label, Origin
from daimon.abi.tool import Tool
from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.knowledge import Knowledge
from daimon.boot.post import Post
from daimon.boot.workplace import Workplace
from daimon.kernel.printing import Printer
from daimon.mcp.errands import Errands
from daimon.mcp.hooking import answering, signing_only
from daimon.mcp.servers import Around, Servers
from daimon.mcp.talks import Talks
from daimon.mcp.tools import Lasting

_OURS = Label.of(Origin(Author.SERVICE, "mcp"))


async def open_servers(
    stack: AsyncExitStack, ground: Ground, knowledge: Knowledge, workplace: Workplace, gate: Gatehouse, post: Post
) -> Servers:
    mind, printer = knowledge.mind, Printer(ground.feed, ground.redactor)
    tell = partial(_told, ground)
    talks = Talks(ground.redactor, tell)
    stack.callback(talks.close)
    errands = Errands(ground.clock, partial(_woken, ground, post))
    stack.callback(errands.close)
    signing = signing_only(ground.home.path, ground.vault, workplace.shop.web(), ground.clock, tell)
    around = Around(
        shop=workplace.shop, clock=ground.clock, blobs=ground.journal, progress=printer, lasting=Lasting(talks, errands),
        hooks=answering(signing, talks, ground.clock),
    )  # fmt: skip
    groups: dict[str, frozenset[str]] = {}

    def put(group: str, tools: tuple[Tool, ...]) -> None:
        gate.put(group, tools, mind.settings)
        groups[group] = frozenset(tool.manifest.name for tool in tools)

    def taken(group: str) -> frozenset[str]:
        return frozenset(manifest.name for manifest in gate.registry.manifests()) - groups.get(group, frozenset())

    servers = Servers(around, put, taken)
    stack.push_async_callback(servers.close)
    await servers.change(ground.settings.mcp)
    return servers


async def _told(ground: Ground, words: str) -> None:
    """The owner, wherever that is. The same words once a day."""
    key = Key(f"mcp:{ground.clock.now():%Y-%m-%d}:{fingerprint(str, words)}")
    await ground.journal.notify(key, Conversation(HOME_SPACE, "main"), TO_OWNER, words)


async def _woken(ground: Ground, post: Post, to: StepRef) -> None:
    """A task of a server is over. What it gave is fetched when the turn goes on; this says nothing of it."""
    turn, now = await ground.journal.turn(to.turn), ground.clock.now()
    event = Event(
        id=EventId(ground.ids.new("e")), source="mcp", key=Key(f"mcp-task:{to}"), conversation=turn.conversation, principal=turn.principal,
        body=Late({"text": ""}), occurred_at=now, received_at=now, space=turn.space, label=_OURS, resolves=to,
    )  # fmt: skip
    await post.inbox.accept(event)
