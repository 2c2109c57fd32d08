"""Lessons over HTTP: the port `Lessons`, one entry for each of its operations."""

from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.lesson import Lessons, Proposal, Service
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry

MOST_BYTES = 512 * 1024
"""A `SKILL.md` has 256 KiB at most."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Which:
    all: bool = False
    """Also those that were decided."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Accepted:
    text: str = ""
    """The `SKILL.md` as you changed it; empty: as it was proposed."""


@dataclass(frozen=True, slots=True)
class LessonRoutes:
    lessons: Lessons

    def all(self) -> tuple[Entry, ...]:
        path, read, admin, many = "/v1/lessons", Right.READ, Right.ADMIN, tuple[Proposal, ...]
        waiting = "What was learned and waits for your word: skills to have, to change, to give up"
        accept = "Let it count: the skill is installed, changed or removed"
        uses = "How skills have served: observed, not proof"
        return (
            Entry("GET", path, self._proposals, many, waiting, read, query=Which),
            Entry("GET", f"{path}/uses", self._uses, tuple[Service, ...], uses, read),
            Entry("GET", f"{path}/{{id}}", self._proposal, Proposal, "One, with its text, difference and evidence", read, fails=(404,)),
            Entry(
                "POST", f"{path}/{{id}}/accept", self._accept, Proposal, accept, admin, body=Accepted, fails=(404, 409),
                most_bytes=MOST_BYTES, is_act=True,
            ),
            Entry("POST", f"{path}/{{id}}/reject", self._reject, Proposal, "It does not come back", admin, fails=(404,), is_act=True),
        )  # fmt: skip

    async def _proposals(self, call: Call[Which, None]) -> tuple[Proposal, ...]:
        return await self.lessons.proposals(call.query.all)

    async def _proposal(self, call: Call[None, None]) -> Proposal:
        return await self.lessons.proposal(call.path["id"])

    async def _accept(self, call: Call[None, Accepted]) -> Proposal:
        return await self.lessons.accept(call.path["id"], call.body.text)

    async def _reject(self, call: Call[None, None]) -> Proposal:
        return await self.lessons.reject(call.path["id"])

    async def _uses(self, call: Call[None, None]) -> tuple[Service, ...]:
        return await self.lessons.uses()
