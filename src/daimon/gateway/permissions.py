"""What people are asked, and what the owner allowed ahead of time, over HTTP. Answers come in as events (`taking.py`)."""

from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.ports import Clock, Followed, Given
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.kernel.grants import Standing
from daimon.kernel.questions import OpenQuestion, open_questions


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Which:
    all: bool = False


@dataclass(frozen=True, slots=True)
class PermissionRoutes:
    archive: Followed
    grants: Standing
    clock: Clock

    def all(self) -> tuple[Entry, ...]:
        path, read = "/v1/grants", Right.READ
        in_force = "What the owner allowed ahead of time and is in force, newest first; with all=true all that ever was"
        gone = "Take a grant back; it is gone when this is answered"
        return (
            Entry("GET", "/v1/questions", self._questions, tuple[OpenQuestion, ...], "What people are being asked", read),
            Entry("GET", path, self._grants, tuple[Given, ...], in_force, read, query=Which),
            Entry("DELETE", f"{path}/{{id}}", self._revoke, Given, gone, Right.APPROVE, is_act=True),
        )

    async def _questions(self, call: Call[None, None]) -> tuple[OpenQuestion, ...]:
        return await open_questions(self.archive, HOME_SPACE)

    async def _grants(self, call: Call[Which, None]) -> tuple[Given, ...]:
        given, now = await self.grants.given(), self.clock.now()
        return tuple(each for each in given if call.query.all or each.is_in_force(now))

    async def _revoke(self, call: Call[None, None]) -> Given:
        return await self.grants.revoke(call.path["id"], OWNER)
