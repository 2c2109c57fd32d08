"""The ledger of a journal in memory: who holds what, who spent what, who waits for room."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeVar

from daimon.abi.errors import OverBudget
from daimon.abi.ids import TurnId
from daimon.abi.money import NOTHING, Account, Amount, Limit, Scope, Usage, exact
from daimon.abi.ports import Balance, Spending
from daimon.abi.step import Asked, ModelFailed, Raised, Replied, Reserved, Settled, Short, Step

Key = tuple[Scope, str]
N = TypeVar("N", int, Decimal)


@dataclass(slots=True)
class _Purse:
    spent: Amount = Amount()
    held: Amount = Amount()
    more: Amount = Amount()


@dataclass(slots=True)
class _Call:
    step: Step
    reserved: Reserved
    usage: Usage = Usage()
    state: str = "held"


@dataclass(slots=True)
class _Shortage:
    short: Short
    most: Limit
    """Without raises."""
    since: datetime


@dataclass(slots=True)
class MemoryLedger:
    purses: dict[Key, _Purse] = field(default_factory=dict)
    calls: dict[tuple[TurnId, int], _Call] = field(default_factory=dict)
    shortages: dict[TurnId, _Shortage] = field(default_factory=dict)
    due: set[TurnId] = field(default_factory=set)
    """Turns whose waits are over."""

    def take(self, step: Step) -> None:
        """Raises OverBudget."""
        match step.body:
            case Reserved() as reserved:
                self._reserve(step, replace(reserved, cost=_units(reserved.cost)))
            case Settled() as settled:
                usage = replace(settled.usage, cost=_units(settled.usage.cost))
                self._settle((step.turn, settled.reservation), usage, settled.how)
            case Short() as short:
                self._fall_short(step, short)
            case Raised(scope=scope, key=key, more=more):
                purse = self._purse((scope, key))
                purse.more = _plus(purse.more, Amount(more.tokens, _units(more.cost)))
                self._wake((scope, key))
            case Asked(question=question) if question.type == "money":
                pass
            case Replied() | ModelFailed() | Asked():
                self._go_on(step.turn)
            case _:
                pass

    def look_again(self, turn: TurnId) -> None:
        if turn in self.shortages:
            self._wake(_key(self.shortages[turn]))

    def leave(self, turn: TurnId) -> None:
        for key, call in self.calls.items():
            if key[0] == turn and call.state == "held":
                self._settle(key, Usage(call.reserved.amount.tokens, cost=call.reserved.cost), "assumed")
        self._go_on(turn)

    def reconsider(self, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
        for turn, shortage in self.shortages.items():
            is_changed = shortage.most != limits.get(shortage.short.account.scope, Limit.NONE) or shortage.short.model not in models
            if shortage.short.needed.cost is None or is_changed:
                self.due.add(turn)

    def balances(self, accounts: Sequence[Account]) -> tuple[Balance, ...]:
        return tuple(self._balance(account) for account in accounts)

    def spending(self, key_of: Callable[[Step, Reserved], str], since: str, until: str) -> tuple[Spending, ...]:
        groups: dict[str, list[_Call]] = {}
        for call in self.calls.values():
            day = next((a.key for a in call.reserved.accounts if a.scope is Scope.DAY), "")
            if day >= since and (not until or day <= until):
                groups.setdefault(key_of(call.step, call.reserved), []).append(call)
        rows = [_spending(key, calls) for key, calls in sorted(groups.items())]
        by_date = all(key in _dates(call) for key, calls in groups.items() for call in calls)
        return tuple(rows if by_date else sorted(rows, key=lambda row: (-row.cost, -row.calls)))

    def _fall_short(self, step: Step, short: Short) -> None:
        account, before = short.account, self.shortages.get(step.turn)
        more = short.more
        most = Limit(_less(account.limit.tokens, more.tokens), _less(account.limit.cost, more.cost))
        has_moved = before is not None and not _same(before, account)
        self.shortages[step.turn] = _Shortage(short, most, step.at if before is None or has_moved else before.since)
        if before is not None and has_moved:
            self._wake(_key(before))

    def _go_on(self, turn: TurnId) -> None:
        shortage = self.shortages.pop(turn, None)
        if shortage is not None:
            self._wake(_key(shortage))

    def _reserve(self, step: Step, body: Reserved) -> None:
        shorts = [short for account in body.accounts if (short := self._short(step, body, account)) is not None]
        if shorts:
            raise OverBudget(next((short for short in shorts if short.why != "held"), shorts[0]))
        for account in body.accounts:
            purse = self._purse((account.scope, account.key))
            purse.held = _plus(purse.held, body.amount)
        self.calls[step.turn, step.n] = _Call(step, body)
        self.shortages.pop(step.turn, None)

    def _short(self, step: Step, body: Reserved, account: Account) -> Short | None:
        if account.limit == Limit.NONE:
            return None
        balance, need = self._balance(account), body.amount
        total, limit = _plus(_plus(balance.spent, balance.held), need), _for(need, balance.account.limit)
        if balance.account.limit.cost is not None and need.cost is None:
            why: Literal["reached", "held", "unknown_price"] = "unknown_price"
        elif not _fits(_plus(balance.spent, need), limit):
            why = "reached"
        elif not _fits(total, limit):
            why = "held"
        else:
            return None
        more = self._purse((account.scope, account.key)).more
        asking = [turn for turn, other in self._waiting((account.scope, account.key)) if turn != step.turn and _is_asking(other)]
        return Short(body.model, balance.account, balance.spent, balance.held, need, why, more, next(iter(asking), None))

    def _settle(self, key: tuple[TurnId, int], usage: Usage, how: str) -> None:
        call = self.calls.get(key)
        if call is None or call.state != "held":
            return
        cost = call.reserved.cost if usage.cost is None and how != "unused" else usage.cost
        call.state, call.usage = how, replace(usage, cost=cost)
        for account in call.reserved.accounts:
            purse = self._purse((account.scope, account.key))
            purse.held = Amount(purse.held.tokens - call.reserved.amount.tokens, _known(purse.held.cost) - _known(call.reserved.cost))
            purse.spent = Amount(purse.spent.tokens + usage.tokens, _known(purse.spent.cost) + _known(cost))
        for account in call.reserved.accounts:
            self._wake((account.scope, account.key))

    def _wake(self, key: Key) -> None:
        if not self._make_room(key):
            self._let_ask(key)

    def _make_room(self, key: Key) -> bool:
        purse = self._purse(key)
        total, has_room = _plus(purse.spent, purse.held), False
        for turn, shortage in self._waiting(key):
            limit = Limit(_more(shortage.most.tokens, purse.more.tokens), _more(shortage.most.cost, purse.more.cost))
            need = shortage.short.needed
            if (limit.cost is None or need.cost is not None) and _fits(_plus(total, need), _for(need, limit)):
                self.due.add(turn)
                total, has_room = _plus(total, need), True
        return has_room

    def _let_ask(self, key: Key) -> None:
        waiting, purse = self._waiting(key), self._purse(key)
        if waiting and purse.held == Amount() and not any(_is_asking(shortage) for _, shortage in waiting):
            self.due.add(waiting[0][0])

    def _waiting(self, key: Key) -> list[tuple[TurnId, _Shortage]]:
        """The first first."""
        return sorted(((t, s) for t, s in self.shortages.items() if _key(s) == key), key=lambda each: (each[1].since, each[0]))

    def _balance(self, account: Account) -> Balance:
        purse = self._purse((account.scope, account.key))
        limit = Limit(_more(account.limit.tokens, purse.more.tokens), _more(account.limit.cost, purse.more.cost))
        waiting = sum(_same(shortage, account) for shortage in self.shortages.values())
        return Balance(replace(account, limit=limit), purse.spent, purse.held, waiting)

    def _purse(self, key: Key) -> _Purse:
        return self.purses.setdefault(key, _Purse())


def _spending(key: str, calls: Sequence[_Call]) -> Spending:
    done = [call for call in calls if call.state != "held"]
    under_way = [call for call in calls if call.state == "held"]
    return Spending(
        key=key,
        calls=len(calls),
        input_tokens=sum(call.usage.input_tokens for call in done),
        cached_tokens=sum(call.usage.cached_tokens for call in done),
        cache_write_tokens=sum(call.usage.cache_write_tokens for call in done),
        output_tokens=sum(call.usage.output_tokens for call in done),
        cost=sum((_known(call.usage.cost) for call in done), start=NOTHING),
        assumed=sum((_known(call.usage.cost) for call in done if call.state == "assumed"), start=NOTHING),
        unpriced=sum(call.usage.cost is None and call.state != "unused" for call in done),
        under_way=len(under_way),
        held=sum((_known(call.reserved.cost) for call in under_way), start=NOTHING),
    )


def _is_asking(shortage: _Shortage) -> bool:
    return shortage.short.why != "held" and shortage.short.asked is None


def _same(shortage: _Shortage, account: Account) -> bool:
    return _key(shortage) == (account.scope, account.key)


def _key(shortage: _Shortage) -> Key:
    return shortage.short.account.scope, shortage.short.account.key


def _dates(call: _Call) -> set[str]:
    return {account.key for account in call.reserved.accounts if account.scope in (Scope.DAY, Scope.MONTH)}


def _units(cost: Decimal | None) -> Decimal | None:
    return None if cost is None else exact(cost)


def _known(cost: Decimal | None) -> Decimal:
    return NOTHING if cost is None else cost


def _plus(a: Amount, b: Amount) -> Amount:
    return Amount(a.tokens + b.tokens, _known(a.cost) + _known(b.cost))


def _for(need: Amount, limit: Limit) -> Limit:
    """What is free needs no room for money."""
    return Limit(limit.tokens) if need.cost == 0 else limit


def _fits(total: Amount, limit: Limit) -> bool:
    return (limit.tokens is None or total.tokens <= limit.tokens) and (limit.cost is None or _known(total.cost) <= limit.cost)


def _more(limit: N | None, by: N | None) -> N | None:
    return limit if limit is None or by is None else limit + by


def _less(limit: N | None, by: N | None) -> N | None:
    return limit if limit is None or by is None else limit - by
