import asyncio
import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.cli.processes import Daimon
from tests.journal.world import DONE, PINS, TTL_S, claimed, event, opened, step

from daimon import config
from daimon.abi.errors import BadInput
from daimon.abi.event import Body, Heartbeat
from daimon.abi.ids import HOME_SPACE, SELF, Conversation
from daimon.abi.money import Amount, Usage
from daimon.abi.ports import Claim
from daimon.abi.step import Raised, Reserved, Settled, Short
from daimon.cli.costs import Asked, read
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.budget import without_money
from daimon.mind import budget_of

TODAY = date(2026, 11, 15)
ZONE = f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"
"""Where it is noon: no day ends while a test runs."""
LIMITS = f'[owner]\ntimezone = "{ZONE}"\n[budget.day]\ncost = 5\n[budget.month]\ncost = 50\ntokens = 1_000_000\n'


@dataclass(frozen=True)
class Call:
    usage: Usage = Usage(1_200, 50, 800, cost=Decimal("0.30"))
    how: str = "measured"
    """Or `held`: it is still under way; or `left`: its turn ended without saying what it took."""
    model: str = "sonnet"
    conversation: str = "main"
    days_ago: int = 0
    most: Decimal | None = Decimal("0.50")
    body: Body | None = None


def now() -> datetime:
    return datetime.now(ZoneInfo(ZONE))


def keep(daimon: Daimon, *calls: Call, limits: str = LIMITS) -> None:
    """A home with a journal that holds these calls."""
    daimon.configure(limits)
    asyncio.run(_keep(daimon.home, calls))


async def _keep(home: Path, calls: tuple[Call, ...]) -> None:
    budget = budget_of(config.load(home / "daimon.toml", {}))
    async with opened(home / "journal.db") as journal:
        for n, call in enumerate(calls):
            claim = await _begun(journal, f"k{n}", call)
            accounts = budget.accounts(claim.turn, SELF, now() - timedelta(days=call.days_ago))
            accounts = without_money(accounts) if call.most is None else accounts
            await journal.record(claim, [step(claim, 0, Reserved(call.model, "acme", 4_000, 1_000, call.most, "a list", accounts))])
            if call.how in ("measured", "assumed", "unused"):
                await journal.record(claim, [step(claim, 1, Settled(0, call.usage, call.how))])  # type: ignore[arg-type]
            if call.how != "held":
                await journal.finish(claim, (), DONE)


async def _begun(journal: SqliteJournal, key: str, call: Call) -> Claim:
    await journal.accept(event(key, call.body, call.conversation))
    return claimed(await journal.claim(Conversation(HOME_SPACE, call.conversation), "w1", TTL_S, PINS))


SEVERAL = (
    Call(days_ago=40),
    Call(days_ago=1),
    Call(model="haiku", conversation="mail"),
    Call(how="left"),
    Call(Usage(100, 10, cost=None), model="mystery", most=None, body=Heartbeat("read-feed")),
)


@pytest.mark.parametrize(
    ("by", "since", "until", "expected"),
    [
        ("day", None, None, Asked("day", "2026-10-17")),
        ("month", None, None, Asked("month", "2025-12-01")),
        ("model", "today", None, Asked("model", "2026-11-15")),
        ("job", "7d", None, Asked("job", "2026-11-09")),
        ("agent", "1d", None, Asked("agent", "2026-11-15")),
        ("turn", "month", "today", Asked("turn", "2026-11-01", "2026-11-15")),
        ("conversation", "2026-01-31", "2026-02-28", Asked("conversation", "2026-01-31", "2026-02-28")),
        ("day", None, "2026-03-30", Asked("day", "2026-03-01", "2026-03-30")),
        ("day", "99999d", None, Asked("day", str(date.fromordinal(TODAY.toordinal() - 99_998)))),
    ],
)
def test_what_is_asked_for_is_understood(by: str, since: str | None, until: str | None, expected: Asked) -> None:
    assert read(by, since, until, TODAY) == expected


@pytest.mark.parametrize(
    ("by", "since", "until", "said"),
    [
        ("colour", None, None, "--by 'colour' is none of day, month"),
        ("day", "yesteryear", None, "--since 'yesteryear' is not a day; write it as 2026-11-15, `today`, `7d` or `month`"),
        ("day", "2026-02-30", None, "--since '2026-02-30' is not a day"),
        ("day", "0d", None, "is not a day"),
        ("day", "", None, "is not a day"),
        ("day", None, "7d", "--until '7d' is not a day; write it as 2026-11-15 or `today`"),
        ("day", "2026-11-02", "2026-11-01", "--since 2026-11-02 is after --until 2026-11-01"),
        ("day", "month", "2026-10-01", "is after"),
    ],
)
def test_what_cannot_be_understood_is_a_sentence(by: str, since: str | None, until: str | None, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        read(by, since, until, TODAY)


def test_bad_input_is_one_line_and_its_own_exit_code(daimon: Daimon) -> None:
    for words in (("--by", "colour"), ("--since", "soon"), ("--since", "2026-11-02", "--until", "2026-11-01")):
        done = daimon.run("costs", *words)
        assert done.code == 4
        assert done.out == ""
        assert len(done.err.splitlines()) == 1
        assert done.err.startswith("daimon: --")


def test_calls_are_added_up_by_day(daimon: Daimon) -> None:
    keep(daimon, *SEVERAL)

    done = daimon.run("costs")

    head, yesterday, today, total = done.out.splitlines()[:4]
    assert head.split() == ["day", "calls", "fresh", "in", "cached", "in", "out", "cost"]
    assert yesterday.split() == [str(now().date() - timedelta(days=1)), "1", "400", "800", "(67", "%)", "50", "$0.30"]
    assert today.startswith(str(now().date()))
    assert "$0.80" in today
    assert "cost unknown for 1 call; of which $0.50 assumed" in today
    assert total.startswith("total")
    assert "$1.10" in total
    assert f"since {now().date() - timedelta(days=29)}" in done.err


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("month", None),
        ("model", ["sonnet", "haiku", "mystery"]),
        ("conversation", ["main", "mail"]),
        ("agent", [SELF]),
        ("job", ["chat", "read-feed"]),
    ],
)
def test_calls_are_added_up_by_what_is_asked_for_the_dearest_first(daimon: Daimon, by: str, keys: list[str] | None) -> None:
    keep(daimon, *SEVERAL)
    found = json.loads(daimon.run("costs", "--by", by, "--since", "60d", "--json").out)
    assert found["by"] == by
    assert sum(Decimal(row["cost"]) for row in found["rows"]) == Decimal("1.40")
    assert keys is None or [row["key"] for row in found["rows"]] == keys


def test_only_the_days_that_are_asked_for_count(daimon: Daimon) -> None:
    keep(daimon, *SEVERAL)
    yesterday = str(now().date() - timedelta(days=1))
    found = json.loads(daimon.run("costs", "--since", "60d", "--until", yesterday, "--json").out)
    assert [row["key"] for row in found["rows"]] == [str(now().date() - timedelta(days=40)), yesterday]


def test_an_unknown_cost_is_never_zero(daimon: Daimon) -> None:
    keep(daimon, SEVERAL[-1])
    row = daimon.run("costs").out.splitlines()[1]
    assert "unknown" in row.split()
    assert "$0.00" not in row
    assert "cost unknown for 1 call" in row


def test_calls_under_way_are_said_and_held(daimon: Daimon) -> None:
    keep(daimon, Call(), Call(how="held", conversation="other"))

    lines = daimon.run("costs").out.splitlines()

    assert "under way: 1, up to $0.50" in lines[1]
    today, month, tokens = (line.split() for line in lines[-3:])
    assert today == ["today", "$0.30", "$0.50", "$5.00", "$4.20", "[#++.................]"]
    assert month[2:6] == ["$0.30", "$0.50", "$50.00", "$49.20"]
    assert tokens[2:10] == ["1,250", "tokens", "5,000", "tokens", "1,000,000", "tokens", "993,750", "tokens"]


def test_a_limit_that_was_met_shows_who_waits_and_raises_count(daimon: Daimon) -> None:
    keep(daimon, Call())
    asyncio.run(_meet_the_limit_and_raise(daimon.home))

    done = daimon.run("costs")

    today = next(line for line in done.out.splitlines() if line.startswith("today"))
    assert "$7.00" in today
    assert "1 turn waiting for money" in today
    assert "daimon questions" in done.err


async def _meet_the_limit_and_raise(home: Path) -> None:
    budget = budget_of(config.load(home / "daimon.toml", {}))
    day = budget.shared(now())[0]
    async with opened(home / "journal.db") as journal:
        first = await _begun(journal, "short", Call(conversation="short"))
        short = Short("sonnet", day, Amount(10, Decimal("4.90")), Amount(), Amount(10, Decimal(9)), "reached")
        await journal.record(first, [step(first, 0, short)])
        second = await _begun(journal, "raise", Call(conversation="raise"))
        await journal.record(second, [step(second, 0, Raised(day.scope, day.key, Amount(0, Decimal(2)), second.turn.principal))])


def test_without_limits_there_is_nothing_left_to_say(daimon: Daimon) -> None:
    free = f'[owner]\ntimezone = "{ZONE}"\n[budget]\nday = {{cost = "none"}}\nmonth = {{cost = 0}}\n'
    keep(daimon, Call(most=Decimal(0), usage=Usage(1, 1)), limits=free)
    today, month = daimon.run("costs").out.splitlines()[-2:]
    assert today.split() == ["today", "$0.00", "$0.00", "none"]
    assert month.split() == ["this", "month", "$0.00", "$0.00", "$0.00", "$0.00", f"[{'#' * 20}]"]


def test_an_empty_ledger_says_so_and_still_shows_the_limits(daimon: Daimon) -> None:
    keep(daimon)
    done = daimon.run("costs")
    assert done.out.splitlines()[0] == "no model has been paid for yet"
    assert "$5.00" in done.out
    assert json.loads(daimon.run("costs", "--json").out)["rows"] == []


def test_a_quiet_time_is_not_called_an_empty_ledger(daimon: Daimon) -> None:
    keep(daimon, Call(days_ago=40))
    assert daimon.run("costs").out.startswith(f"no model was asked since {now().date() - timedelta(days=29)}\n")


def test_a_home_with_nothing_in_it_says_how_to_begin(daimon: Daimon) -> None:
    done = daimon.run("costs")
    assert done.code == 3
    assert "daimon up" in done.err
    assert not daimon.home.exists()


def test_a_name_from_outside_cannot_steer_the_terminal(daimon: Daimon) -> None:
    keep(daimon, Call(conversation="\x1b[2Jevil"))
    assert "\x1b" not in daimon.run("costs", "--by", "conversation").out


def test_the_numbers_are_the_same_whether_a_gateway_runs_or_not_and_no_file_changes(daimon: Daimon) -> None:
    keep(daimon, *SEVERAL)
    before = {path.name: path.stat().st_mtime_ns for path in daimon.home.iterdir()}
    alone = {by: daimon.run("costs", "--by", by, "--json").out for by in ("day", "job", "turn")}
    told = daimon.run("costs").out
    assert {path.name: path.stat().st_mtime_ns for path in daimon.home.iterdir()} == before

    daimon.up()

    assert {by: daimon.run("costs", "--by", by, "--json").out for by in alone} == alone
    assert daimon.run("costs").out == told
    assert set(json.loads(alone["day"])) == {"by", "rows", "balances"}
