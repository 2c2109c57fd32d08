"""People over HTTP. Ranks are `owner`, `trusted` and `guest`."""

from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ids import PrincipalId
from daimon.abi.people import Invitation, Person, Rank
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.gateway.introductions import Everybody, Introductions


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Invited:
    name: str = ""
    rank: Rank = Rank.OWNER


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Allowed:
    channel: str
    sender: str
    name: str
    rank: Rank = Rank.GUEST


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Ranked:
    rank: Rank


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Chat:
    channel: str = ""
    sender: str = ""


@dataclass(frozen=True, slots=True)
class PeopleRoutes:
    introductions: Introductions

    def all(self) -> tuple[Entry, ...]:
        path, admin = "/v1/people", Right.ADMIN
        code = "A pairing code, shown this once"
        stranger = "Make somebody a stranger again; with channel and sender: only that chat of theirs"
        return (
            Entry("GET", path, self._everybody, Everybody, "Who is known, by which chats, and who knocked", Right.READ),
            Entry("POST", f"{path}/invitations", self._invite, Invitation, code, admin, body=Invited, is_act=True),
            Entry("POST", f"{path}/contacts", self._allow, Person, "Let a chat in without a code", admin, body=Allowed, is_act=True),
            Entry("POST", f"{path}/{{id}}/rank", self._change, Person, "Change what somebody may do", admin, body=Ranked, is_act=True),
            Entry("DELETE", f"{path}/{{id}}", self._remove, dict[str, str], stranger, admin, query=Chat, is_act=True),
        )

    async def _everybody(self, call: Call[None, None]) -> Everybody:
        return await self.introductions.everybody()

    async def _invite(self, call: Call[None, Invited]) -> Invitation:
        return await self.introductions.invite(call.body.name, call.body.rank)

    async def _allow(self, call: Call[None, Allowed]) -> Person:
        wish = call.body
        return await self.introductions.allow(wish.channel, wish.sender, wish.name, wish.rank)

    async def _change(self, call: Call[None, Ranked]) -> Person:
        return await self.introductions.change(PrincipalId(call.path["id"]), call.body.rank)

    async def _remove(self, call: Call[Chat, None]) -> dict[str, str]:
        await self.introductions.remove(PrincipalId(call.path["id"]), call.query.channel, call.query.sender)
        return {"removed": call.path["id"]}
