"""What models may cost: which accounts a call is charged to, and what is said when one of them has no room.

Pure. Whether there is room is decided in the journal, in the transaction that reserves; here stands whom a call is charged to and how
a person is told. A task is charged with all that it starts, and so are the conversation and the agent where it began: a turn cannot
get round a limit by handing work on. What somebody else than the owner asks for is charged to them as well, so that a guest or a busy
group does not spend the owner's day; what the owner had set up for them has the limits of its job. All limits but that of a task are by
the day or month of the owner's own time zone.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import ROUND_UP, Decimal

from pydantic import JsonValue

from daimon.abi.event import TIMER
from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.money import Account, Amount, Limit, Scope, dollars
from daimon.abi.people import serves_owner
from daimon.abi.step import Short
from daimon.abi.tool import Question
from daimon.abi.turn import Turn

WAIT, RAISE, STOP, ALLOW = "wait", "raise", "stop", "allow"
"""What the owner may answer."""
CENT = Decimal("0.01")
MOST = 1_000_000_000
NUMBER = re.compile(r"\$?\s*(?P<number>\d{1,9}(?:\.\d{1,9})?|\d{1,3}(?:,\d{3})+(?:\.\d{1,9})?)\s*(?:\$|usd|dollars?|tokens?)?", re.ASCII)
NAMES = {
    Scope.TURN: "this task",
    Scope.CONVERSATION: "this conversation today",
    Scope.JOB: "this automation today",
    Scope.AGENT: "this agent today",
    Scope.PERSON: "this person today",
    Scope.DAY: "today",
    Scope.MONTH: "this month",
}


@dataclass(frozen=True, slots=True)
class Budget:
    limits: Mapping[Scope, Limit]
    zone: tzinfo
    allows_unknown: bool = False
    """Calls whose price nobody knows pass limits in money."""
    jobs: Mapping[str, Limit] = field(default_factory=dict)
    """Limits of automations that have their own, each instead of `budget.job`. Whoever keeps them changes them as they change."""

    def accounts(self, turn: Turn, agent: AgentId, now: datetime) -> tuple[Account, ...]:
        day, month = self.shared(now)
        names = (
            (Scope.CONVERSATION, turn.conversation), (Scope.CONVERSATION, turn.origin), (Scope.JOB, turn.job),
            (Scope.AGENT, agent), (Scope.AGENT, turn.origin_agent), (Scope.PERSON, _asks(turn)),
        )  # fmt: skip
        daily = (self._daily(scope, name, day) for scope, name in dict.fromkeys(names) if name)
        return self._account(Scope.TURN, turn.root, None), *daily, day, month

    def shared(self, now: datetime) -> tuple[Account, Account]:
        """Those of the day and the month, which everybody shares."""
        today = now.astimezone(self.zone).date()
        next_month = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
        return (
            self._account(Scope.DAY, str(today), self._midnight(today + timedelta(days=1))),
            self._account(Scope.MONTH, f"{today:%Y-%m}", self._midnight(next_month)),
        )

    def persons(self, names: Iterable[str], now: datetime) -> tuple[Account, ...]:
        """Those of others than the owner."""
        day, _ = self.shared(now)
        return tuple(self._daily(Scope.PERSON, name, day) for name in dict.fromkeys(names) if not serves_owner(PrincipalId(name)))

    def _daily(self, scope: Scope, name: str, day: Account) -> Account:
        account = self._account(scope, f"{name} {day.key}", day.until)
        return replace(account, limit=self.jobs[name]) if scope is Scope.JOB and name in self.jobs else account

    def _account(self, scope: Scope, key: str, until: datetime | None) -> Account:
        return Account(scope, key, self.limits.get(scope, Limit.NONE), until)

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.zone)


def _asks(turn: Turn) -> str:
    """Who else than the owner has this done; empty: nobody."""
    return turn.principal if turn.job in ("", TIMER) and not serves_owner(turn.principal) else ""


def named(account: Account) -> str:
    """What a limit is for, in words."""
    return f"{account.key.rsplit(' ', 1)[0]} today" if account.scope is Scope.PERSON else NAMES[account.scope]


def without_money(accounts: tuple[Account, ...]) -> tuple[Account, ...]:
    """The same accounts, limited in tokens only."""
    return tuple(Account(a.scope, a.key, Limit(a.limit.tokens), a.until) for a in accounts)


def question(short: Short) -> Question:
    """What the owner is asked when a limit is met."""
    if short.why == "unknown_price":
        text = f"{reached(short)} `daimon model price` sets its price. Answer `allow` to let this task use it all the same."
        return Question(text, (STOP, ALLOW), "money", _details(short))
    more = raise_by(short, "")
    assert more is not None
    again = "" if short.account.until is None else f" `{WAIT}` goes on when it begins anew ({short.account.until:%Y-%m-%d %H:%M %Z}),"
    text = (
        f"{reached(short)} Answer `{RAISE}` to allow {_said(more, short)} more for {named(short.account)} "
        f"(or `{RAISE} AMOUNT`),{again} `{STOP}` ends the task."
    )
    options = (STOP, RAISE) if short.account.until is None else (WAIT, RAISE, STOP)
    return Question(text, options, "money", _details(short), short.account.until)


def reached(short: Short) -> str:
    """Which limit was met and by what."""
    limit, need = short.account.limit, short.needed
    if short.why == "unknown_price":
        return (
            f"Nobody knows what a call of {short.model} costs, and there is a limit of {dollars(limit.cost)} ({_setting(short.account)})."
        )
    what = f"The limit for {named(short.account)} ({_setting(short.account)})"
    if _is_about_tokens(short):
        where = f"is {limit.tokens:,} tokens; {short.spent.tokens:,} are used, and the next call of {short.model} may take {need.tokens:,}."
        is_hopeless = limit.tokens is not None and need.tokens > limit.tokens
    else:
        where = (
            f"is {dollars(limit.cost)}; {dollars(short.spent.cost)} is spent, "
            f"and the next call of {short.model} may cost up to {dollars(need.cost)}."
        )
        is_hopeless = limit.cost is not None and need.cost is not None and need.cost > limit.cost
    hint = " The limit is below the cost of one call: no call fits into it." if is_hopeless else ""
    return f"{what} {where}{hint}"


def raise_by(short: Short, text: str) -> Amount | None:
    """How much more the owner's words allow; None: they name no clear amount.

    Without a word: enough for this call and some more, or half the limit, whichever is more.
    """
    given = _number(text)
    if text.strip() and given is None:
        return None
    if _is_about_tokens(short):
        limit, need = short.account.limit.tokens or 0, short.needed.tokens
        return Amount(int(given) if given else max(4 * need, limit // 2, short.spent.tokens + short.held.tokens + 2 * need - limit))
    limit_cost, cost = short.account.limit.cost or Decimal(0), short.needed.cost or Decimal(0)
    missing = (short.spent.cost or Decimal(0)) + (short.held.cost or Decimal(0)) + 2 * cost - limit_cost
    return Amount(0, given or max(4 * cost, limit_cost / 2, missing).quantize(CENT, ROUND_UP))


def _is_about_tokens(short: Short) -> bool:
    limit, spent, held, need = short.account.limit, short.spent, short.held, short.needed
    return limit.tokens is not None and spent.tokens + (held.tokens if short.why == "held" else 0) + need.tokens > limit.tokens


def _said(more: Amount, short: Short) -> str:
    return f"{more.tokens:,} tokens" if _is_about_tokens(short) else dollars(more.cost)


def _setting(account: Account) -> str:
    return f"budget.{account.scope}"


def _number(text: str) -> Decimal | None:
    """`5`, `$2.50`, `1,000 tokens`. What could mean two things, such as `5,50`, means nothing."""
    found = NUMBER.fullmatch(text.strip().lower())
    number = Decimal(found["number"].replace(",", "")) if found else None
    return number if number is not None and 0 < number < MOST else None


def _details(short: Short) -> dict[str, JsonValue]:
    return {"scope": short.account.scope.value, "key": short.account.key, "model": short.model}
