"""All that can be asked for at `/mcp`. A new ability is one line here."""

from typing import TYPE_CHECKING, Any

from daimon.gateway.mcp.ability import Ability
from daimon.gateway.mcp.deciding import Decisions
from daimon.gateway.mcp.desk import Desk
from daimon.gateway.mcp.keeping import Notes
from daimon.gateway.mcp.looking import Looks
from daimon.gateway.mcp.speaking import server_of
from daimon.gateway.mcp.talking import Talking
from daimon.gateway.parts import Parts

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def abilities_of(parts: Parts) -> tuple[Ability, ...]:
    talking = Talking(parts.inbox, parts.archive, parts.chats, parts.feed, parts.clock, parts.ids)
    return (
        *talking.all(),
        *Notes(parts.memory, parts.amender, parts.clock, parts.ids, parts.redactor).all(),
        *Looks(talking).all(),
        *Decisions(parts.inbox, parts.archive, parts.access.acts, parts.clock, parts.ids).all(),
    )


def server_for(parts: Parts) -> "Server[Any]":
    return server_of(Desk(abilities_of(parts), parts.redactor, parts.access.entrance.sessions.is_still))
