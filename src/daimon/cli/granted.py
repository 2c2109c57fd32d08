"""What the owner allowed ahead of time: shown, and taken back. Through the running gateway, else in the journal itself."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.ports import Given
from daimon.cli import screen
from daimon.cli.awake import is_awake
from daimon.cli.reach import source
from daimon.gateway.client import Client
from daimon.kernel import offers


def show(given: Path | None, is_all: bool, as_json: bool) -> None:
    now = datetime.now(UTC)
    found = tuple(each for each in asyncio.run(_given(homes.home_at(given))) if is_all or each.is_in_force(now))
    if as_json:
        screen.emit(encode(tuple[Given, ...], found))
        return
    rows = screen.table("id", "given", "until", "what")
    for each in found:
        rows.add_row(each.grant.id, _day(each.grant.at), _until(each), Text(screen.plain(offers.words(each.grant))))
    screen.out().print(rows if found else "nothing is granted")


def revoke(given: Path | None, grant: str, as_json: bool) -> None:
    home = homes.home_at(given)
    revoked = Client(home.socket).revoke(grant) if is_awake(home) else asyncio.run(_revoke(home, grant))
    if as_json:
        screen.emit(encode(Given, revoked))
    else:
        screen.say(f"revoked {revoked.grant.id}: {offers.words(revoked.grant)}")


async def _given(home: homes.Home) -> tuple[Given, ...]:
    async with source(home) as journal:
        return await journal.given(HOME_SPACE)


async def _revoke(home: homes.Home, grant: str) -> Given:
    from daimon.offline.grants import granting

    async with granting(home) as standing:
        return await standing.revoke(grant, OWNER)


def _until(given: Given) -> str:
    if given.revoked_at is not None:
        return f"revoked {_day(given.revoked_at)} by {given.revoked_by}"
    if given.grant.until is None:
        return ""
    last = given.grant.until - timedelta(minutes=1)  # the question names the last day, which counts whole
    return f"{last.astimezone():%Y-%m-%d %H:%M}"


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d}"
