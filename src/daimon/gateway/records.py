"""What is on record beside the turns, over HTTP: input that could not be used, what went out to people, what models cost."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ids import HOME_SPACE
from daimon.abi.money import Account
from daimon.abi.ports import DeadLetter, Delivery, Grouping, Ledger, Mailing, Overview
from daimon.gateway.answers import Costs, Letter
from daimon.gateway.asked import CHECKED, Day, Limit
from daimon.gateway.entry import Call, Entry


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Newest:
    limit: Limit = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Sent:
    limit: Limit = 50
    channel: str = ""
    state: Delivery | None = None


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Spent:
    by: Grouping = "day"
    since: Day | None = None
    until: Day | None = None


@dataclass(frozen=True, slots=True)
class RecordRoutes:
    overview: Overview
    ledger: Ledger
    accounts: Callable[[], tuple[Account, ...]]

    def all(self) -> tuple[Entry, ...]:
        unused = "Input that could not be used, newest first"
        sent = "What went out to people, newest first, and what became of it"
        spent = "What models cost, and the limits of today and this month; days are both included"
        return (
            Entry("GET", "/v1/letters", self._letters, tuple[Letter, ...], unused, Right.READ, query=Newest),
            Entry("GET", "/v1/outbox", self._outbox, tuple[Mailing, ...], sent, Right.READ, query=Sent),
            Entry("GET", "/v1/costs", self._costs, Costs, spent, Right.READ, query=Spent),
        )

    async def _letters(self, call: Call[Newest, None]) -> tuple[Letter, ...]:
        return tuple(map(_letter, await self.overview.letters(call.query.limit)))

    async def _outbox(self, call: Call[Sent, None]) -> tuple[Mailing, ...]:
        return await self.overview.mailings(call.query.limit, call.query.channel, call.query.state or "")

    async def _costs(self, call: Call[Spent, None]) -> Costs:
        rows = await self.ledger.spending(HOME_SPACE, call.query.by, call.query.since or "", call.query.until or "")
        return Costs(call.query.by, rows, await self.ledger.balances(HOME_SPACE, self.accounts()))


def _letter(letter: DeadLetter) -> Letter:
    return Letter(letter.source, letter.reason, letter.at, letter.body.decode("utf-8", "backslashreplace"))
