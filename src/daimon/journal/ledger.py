"""What calls may cost and did cost: reservations, settlements, and who waits for room.

A reservation is checked against all of its accounts and set aside in them in the transaction that writes its step; if one has no room,
nothing is written. So the sum of what was spent and what is held never exceeds a limit, however many turns run at once. A settlement
gives back what was not used. A call that nobody settled, because its turn ended or its rows are damaged, counts in full.

Whoever found no room is written down beside its account (`shortages`) and is woken, the first first, when there is some: its waits become
due. A turn that met a limit for good asks the owner; others that meet the same limit wait quietly behind it. Whoever stops waiting in an
account, because it ends, goes on without money, or meets another limit, leaves its room to the next.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import apsw

from daimon.abi.errors import OverBudget
from daimon.abi.ids import SpaceId, TurnId
from daimon.abi.money import LEAST, Account, Amount, Limit, Scope, Usage, exact
from daimon.abi.ports import Balance, Grouping, Spending
from daimon.abi.step import Raised, Reserved, Settled, Short, Step
from daimon.journal.now import Now
from daimon.journal.rows import micros

Key = tuple[str, str]
"""Scope and key of an account."""


def units(cost: Decimal | None) -> int | None:
    return None if cost is None else int(exact(cost) / LEAST)


def money(units: int) -> Decimal:
    cost = (units * LEAST).normalize()
    return cost.quantize(Decimal(1)) if cost == cost.to_integral_value() else cost


def reserve(db: apsw.Connection, step: Step, body: Reserved) -> None:
    """Raises OverBudget."""
    shorts = [short for account in body.accounts if (short := _short(db, step, body, account)) is not None]
    if shorts:
        raise OverBudget(next((short for short in shorts if short.why != "held"), shorts[0]))
    cost = units(body.cost)
    for account in body.accounts:
        db.execute(
            """INSERT INTO accounts (space, scope, key, held_tokens, held_cost) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
               SET held_tokens = held_tokens + excluded.held_tokens, held_cost = held_cost + excluded.held_cost""",
            (step.space, account.scope, account.key, body.amount.tokens, cost or 0),
        )
    keys = {account.scope: account.key for account in body.accounts}
    db.execute(
        """INSERT INTO calls (turn, n, space, agent, model, provider, day, month, accounts, state, held_tokens, held_cost, at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'held', ?, ?, ?)""",
        (
            step.turn, step.n, step.space, step.agent, body.model, body.provider, keys.get(Scope.DAY, ""), keys.get(Scope.MONTH, ""),
            json.dumps([(account.scope, account.key) for account in body.accounts]), body.amount.tokens, cost, micros(step.at),
        ),
    )  # fmt: skip
    db.execute("DELETE FROM shortages WHERE turn = ?", (step.turn,))


def settle(db: apsw.Connection, now: Now, step: Step, body: Settled) -> None:
    _settle(db, now, (step.turn, body.reservation), body.usage, body.how)


def fell_short(db: apsw.Connection, now: Now, step: Step, body: Short) -> None:
    """Whoever is refused by the same account again keeps its place."""
    account, more = body.account, body.more
    most_tokens, most_cost = account.limit.tokens, units(account.limit.cost)
    before = db.execute("SELECT scope, key, since FROM shortages WHERE turn = ?", (step.turn,)).get
    has_moved = before is not None and before[:2] != (account.scope, account.key)
    db.execute(
        "INSERT OR REPLACE INTO shortages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            step.turn, step.space, account.scope, account.key, micros(step.at) if before is None or has_moved else before[2],
            body.why != "held" and body.asked is None, body.model, body.needed.tokens, units(body.needed.cost),
            None if most_tokens is None else most_tokens - more.tokens,
            None if most_cost is None else most_cost - (units(more.cost) or 0),
        ),
    )  # fmt: skip
    if before is not None and has_moved:
        _wake(db, now, step.space, (before[0], before[1]))


def went_on(db: apsw.Connection, now: Now, turn: TurnId) -> None:
    """A turn got further, or waits for something else: not for money any more."""
    row = db.execute("DELETE FROM shortages WHERE turn = ? RETURNING space, scope, key", (turn,)).get
    if row is not None:
        _wake(db, now, SpaceId(row[0]), (row[1], row[2]))


def allow(db: apsw.Connection, now: Now, step: Step, body: Raised) -> None:
    db.execute(
        """INSERT INTO accounts (space, scope, key, more_tokens, more_cost) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
           SET more_tokens = more_tokens + excluded.more_tokens, more_cost = more_cost + excluded.more_cost""",
        (step.space, body.scope, body.key, body.more.tokens, units(body.more.cost) or 0),
    )
    _wake(db, now, step.space, (body.scope, body.key))


def look_again(db: apsw.Connection, now: Now, turn: TurnId) -> None:
    """A turn that parks: there may be room since it was refused."""
    row = db.execute("SELECT space, scope, key FROM shortages WHERE turn = ?", (turn,)).get
    if row is not None:
        _wake(db, now, SpaceId(row[0]), (row[1], row[2]))


def leave(db: apsw.Connection, now: Now, turn: TurnId) -> None:
    """A turn is over: what it still holds counts in full, and whoever waited behind its question may ask."""
    held: list[Any] = db.execute("SELECT n, held_tokens, held_cost FROM calls WHERE turn = ? AND state = 'held'", (turn,)).fetchall()
    for n, tokens, cost in held:
        _settle(db, now, (turn, n), Usage(tokens, cost=None if cost is None else money(cost)), "assumed")
    went_on(db, now, turn)


def reconsider(db: apsw.Connection, now: Now, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
    rows: list[Any] = db.execute("SELECT turn, scope, model, cost, limit_tokens, limit_cost FROM shortages").fetchall()
    for turn, scope, model, cost, tokens, most in rows:
        limit = limits.get(Scope(scope), Limit.NONE)
        if cost is None or model not in models or (tokens, most) != (limit.tokens, units(limit.cost)):
            _make_due(db, now, turn)


# -- reading -----------------------------------------------------------------------------------------------------------

GROUPS: dict[Grouping, str] = {
    "day": "c.day", "month": "c.month", "agent": "c.agent", "model": "c.model",
    "conversation": "t.conversation", "turn": "t.root", "person": "t.principal", "job": "CASE t.job WHEN '' THEN 'chat' ELSE t.job END",
}  # fmt: skip


def spending(db: apsw.Connection, space: SpaceId, by: Grouping, since: str, until: str) -> tuple[Spending, ...]:
    order = "1" if by in ("day", "month") else "7 DESC, 2 DESC, 1"
    rows = db.execute(
        f"""SELECT {GROUPS[by]}, COUNT(*), SUM(c.input_tokens), SUM(c.cached_tokens), SUM(c.cache_write_tokens), SUM(c.output_tokens),
                SUM(COALESCE(c.cost, 0)), SUM(CASE c.state WHEN 'assumed' THEN COALESCE(c.cost, 0) ELSE 0 END),
                SUM(c.cost IS NULL AND c.state NOT IN ('held', 'unused')), SUM(c.state = 'held'),
                SUM(CASE c.state WHEN 'held' THEN COALESCE(c.held_cost, 0) ELSE 0 END)
            FROM calls c JOIN turns t ON t.id = c.turn
            WHERE c.space = ? AND c.day >= ? AND (? = '' OR c.day <= ?) GROUP BY 1 ORDER BY {order}""",
        (space, since, until, until),
    )
    return tuple(
        Spending(
            key=key, calls=calls, input_tokens=fresh, cached_tokens=cached, cache_write_tokens=written, output_tokens=output,
            cost=money(cost), assumed=money(assumed), unpriced=unpriced, under_way=under_way, held=money(held),
        )
        for key, calls, fresh, cached, written, output, cost, assumed, unpriced, under_way, held in rows
    )  # fmt: skip


def balances(db: apsw.Connection, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]:
    return tuple(_balance(db, space, account) for account in accounts)


def _balance(db: apsw.Connection, space: SpaceId, account: Account) -> Balance:
    found = _purse(db, space, (account.scope, account.key))
    waiting: int = db.execute(
        "SELECT COUNT(*) FROM shortages WHERE space = ? AND scope = ? AND key = ?", (space, account.scope, account.key)
    ).get
    limit = Limit(
        None if account.limit.tokens is None else account.limit.tokens + found.more_tokens,
        None if account.limit.cost is None else account.limit.cost + money(found.more_cost),
    )
    spent, held = Amount(found.tokens, money(found.cost)), Amount(found.held_tokens, money(found.held_cost))
    return Balance(Account(account.scope, account.key, limit, account.until), spent, held, waiting)


# -- accounts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Purse:
    tokens: int = 0
    cost: int = 0
    held_tokens: int = 0
    held_cost: int = 0
    more_tokens: int = 0
    more_cost: int = 0


def _purse(db: apsw.Connection, space: str, key: Key) -> _Purse:
    row = db.execute(
        "SELECT tokens, cost, held_tokens, held_cost, more_tokens, more_cost FROM accounts WHERE space = ? AND scope = ? AND key = ?",
        (space, *key),
    ).get
    return _Purse() if row is None else _Purse(*row)


def _short(db: apsw.Connection, step: Step, body: Reserved, account: Account) -> Short | None:
    """Why this reservation does not fit into this account."""
    limit, need = account.limit, body.amount
    if limit == Limit.NONE:
        return None
    found = _purse(db, step.space, (account.scope, account.key))
    tokens = None if limit.tokens is None else limit.tokens + found.more_tokens - need.tokens
    is_free = need.cost == 0
    cost = None if limit.cost is None or is_free else (units(limit.cost) or 0) + found.more_cost - (units(need.cost) or 0)
    if cost is not None and need.cost is None:
        why: Literal["reached", "held", "unknown_price"] = "unknown_price"
    elif (tokens is not None and found.tokens > tokens) or (cost is not None and found.cost > cost):
        why = "reached"
    elif (tokens is not None and found.tokens + found.held_tokens > tokens) or (cost is not None and found.cost + found.held_cost > cost):
        why = "held"
    else:
        return None
    asked = db.execute(
        "SELECT turn FROM shortages WHERE space = ? AND scope = ? AND key = ? AND is_asking AND turn <> ? ORDER BY since, turn LIMIT 1",
        (step.space, account.scope, account.key, step.turn),
    ).get
    balance, more = _balance(db, step.space, account), Amount(found.more_tokens, money(found.more_cost))
    return Short(body.model, balance.account, balance.spent, balance.held, need, why, more, None if asked is None else TurnId(asked))


def _settle(db: apsw.Connection, now: Now, call: tuple[TurnId, int], usage: Usage, how: str) -> None:
    """A reservation that is not there was copied into a fork, or was settled before: nothing happens."""
    row = db.execute("SELECT space, accounts, held_tokens, held_cost FROM calls WHERE turn = ? AND n = ? AND state = 'held'", call).get
    if row is None:
        return
    space, accounts, held_tokens, held_cost = row
    spent = held_cost if usage.cost is None and how != "unused" else units(usage.cost)
    db.execute(
        """UPDATE calls SET state = ?, input_tokens = ?, cached_tokens = ?, cache_write_tokens = ?, output_tokens = ?, cost = ?
           WHERE turn = ? AND n = ?""",
        (how, usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens, usage.output_tokens, spent, *call),
    )
    keys: list[Key] = [(scope, key) for scope, key in json.loads(accounts)]
    for key in keys:
        db.execute(
            """UPDATE accounts SET held_tokens = held_tokens - ?, held_cost = held_cost - ?, tokens = tokens + ?, cost = cost + ?
               WHERE space = ? AND scope = ? AND key = ?""",
            (held_tokens, held_cost or 0, usage.tokens, spent or 0, space, *key),
        )
    for key in keys:
        _wake(db, now, SpaceId(space), key)


# -- waking ------------------------------------------------------------------------------------------------------------


def _wake(db: apsw.Connection, now: Now, space: SpaceId, key: Key) -> None:
    if not _make_room(db, now, space, key):
        _let_ask(db, now, space, key)


def _make_room(db: apsw.Connection, now: Now, space: SpaceId, key: Key) -> bool:
    """Wakes whoever waits for room in this account and fits into it now, the first first."""
    rows: list[Any] = db.execute(
        """SELECT turn, tokens, cost, limit_tokens, limit_cost FROM shortages
           WHERE space = ? AND scope = ? AND key = ? ORDER BY since, turn""",
        (space, *key),
    ).fetchall()
    found = _purse(db, space, key) if rows else _Purse()
    tokens, cost = found.tokens + found.held_tokens - found.more_tokens, found.cost + found.held_cost - found.more_cost
    has_room = False
    for turn, need_tokens, need_cost, most_tokens, most_cost in rows:
        fits = most_tokens is None or tokens + need_tokens <= most_tokens
        fits &= most_cost is None or need_cost == 0 or (need_cost is not None and cost + need_cost <= most_cost)
        if fits:
            _make_due(db, now, turn)
            tokens, cost, has_room = tokens + need_tokens, cost + (need_cost or 0), True
    return has_room


def _let_ask(db: apsw.Connection, now: Now, space: SpaceId, key: Key) -> None:
    """If nothing is held any more and nobody asks the owner, the first who waits is woken though it does not fit, so that it may ask."""
    row = db.execute(
        "SELECT turn, MAX(is_asking) OVER () FROM shortages WHERE space = ? AND scope = ? AND key = ? ORDER BY since, turn LIMIT 1",
        (space, *key),
    ).get
    if row is None or row[1]:
        return
    found = _purse(db, space, key)
    if not found.held_tokens and not found.held_cost:
        _make_due(db, now, row[0])


def _make_due(db: apsw.Connection, now: Now, turn: str) -> None:
    db.execute("UPDATE waits SET until = ? WHERE turn = ?", (micros(now.at), turn))
