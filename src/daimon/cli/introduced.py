"""Who may talk to the agent: shown and changed. Through the running gateway, else in the journal itself."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.people import Contact, Invitation, Knock, Person, Rank
from daimon.cli import consent, screen
from daimon.cli.awake import is_awake
from daimon.gateway import pairing
from daimon.gateway.client import Client
from daimon.gateway.introductions import Everybody, Introducing, everybody
from daimon.gateway.remote_people import RemoteIntroductions

if TYPE_CHECKING:
    from daimon import config

T = TypeVar("T")
LAST = (
    "After this the agent knows no chat of yours: it will not answer you there, and its questions and results wait at the terminal, "
    "until `daimon people invite` pairs one again. Remove it?"
)


def show(given: Path | None, as_json: bool) -> None:
    found = asyncio.run(_everybody(homes.home_at(given)))
    if as_json:
        screen.emit(encode(Everybody, found))
        return
    _show_people(found)
    if found.knocks:
        rows = screen.table("stranger", "calls themselves", "times", "last")
        for knock in found.knocks:
            rows.add_row(_text(_contact(knock)), _text(knock.name), str(knock.times), _moment(knock.last_at))
        screen.out().print(rows)
        screen.remark("`daimon people allow CHANNEL:SENDER --name NAME` lets one of them in.")


def invite(given: Path | None, name: str, rank: Rank, as_json: bool) -> None:
    from daimon import lines

    home = homes.home_at(given)
    made = invited(home, name, rank)
    if as_json:
        screen.emit(encode(Invitation, made))
        return
    whose = "your own chat" if rank is Rank.OWNER else f"a chat of {screen.plain(name)}, as {rank}"
    screen.say(pairing.shown(made.code))
    until = f"{made.until.astimezone():%H:%M}"
    screen.remark(f"It pairs {whose}: send it to the agent there, not in a group. Valid until {until}, once.")
    settings = _settings(home)
    if not (lines.all_wanted(settings) or settings.extensions):  # an extension may bring one
        screen.remark("no channel is set up yet on which it could be sent; `daimon channel add` sets one up", style="yellow")


def has_owner_on(home: homes.Home, channel: str) -> bool:
    """Whether a chat of the owner's on this channel is paired."""
    return any(contact.channel == channel for contact in _owners(asyncio.run(_everybody(home))))


def invited(home: homes.Home, name: str, rank: Rank) -> Invitation:
    if not name and rank is not Rank.OWNER:
        raise BadInput(f"say who it is for: daimon people invite NAME --as {rank}")
    made: Invitation = asyncio.run(_with(home, lambda by: by.invite(name, rank)))
    return made


def allow(given: Path | None, contact: str, name: str, rank: Rank, as_json: bool) -> None:
    channel, sender = _parted(contact)
    if not name and rank is not Rank.OWNER:
        raise BadInput("give them a name: daimon people allow CHANNEL:SENDER --name NAME")
    home = homes.home_at(given)
    _tell(asyncio.run(_with(home, lambda by: by.allow(channel, sender, name, rank))), as_json)
    from daimon import lines

    if channel not in lines.all_wanted(_settings(home)):
        how = f"`daimon channel add {channel}` does it" if channel in lines.KINDS else f"there are {', '.join(lines.KINDS)}"
        screen.remark(f"no channel {screen.plain(channel)} is set up yet; {how}", style="yellow")


def _settings(home: homes.Home) -> "config.Settings":
    from daimon import config

    return config.load(home.config, os.environ)


def rank(given: Path | None, person: str, to: Rank, as_json: bool) -> None:
    _tell(asyncio.run(_with(homes.home_at(given), lambda by: by.change(PrincipalId(person), to))), as_json)


def remove(given: Path | None, person: str, contact: str, is_agreed: bool, as_json: bool) -> None:
    home, (channel, sender) = homes.home_at(given), _parted(contact) if contact else ("", "")
    mine = _owners(asyncio.run(_everybody(home))) if person == OWNER else ()
    if mine and all(not contact or _contact(each) == contact for each in mine):
        consent.require(LAST, is_agreed)
    asyncio.run(_with(home, lambda by: by.remove(PrincipalId(person), channel, sender)))
    if as_json:
        screen.emit_value({"removed": person})
    else:
        screen.say(f"removed {screen.plain(contact or person)}")


def _owners(found: Everybody) -> tuple[Contact, ...]:
    return tuple(contact for known in found.people if known.person.id == OWNER for contact in known.contacts)


def _show_people(found: Everybody) -> None:
    rows = screen.table("person", "rank", "chat", "last seen")
    for known in found.people:
        person = known.person
        for n, contact in enumerate(known.contacts or (None,)):
            who = (_text(person.id), person.rank.value) if n == 0 else (Text(""), "")
            last = "" if contact is None or contact.last_at is None else _moment(contact.last_at)
            rows.add_row(*who, _text("" if contact is None else _contact(contact)), last)
    screen.out().print(rows if found.people else "nobody is known; `daimon people invite` pairs a chat of yours")


def _tell(person: Person, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Person, person))
    else:
        screen.say(f"{person.id} is {person.rank}")


async def _everybody(home: homes.Home) -> Everybody:
    if Client(home.socket).is_there():
        return await RemoteIntroductions(home.socket).everybody()
    from daimon.offline.reading import reading

    try:
        async with reading(home) as journal:
            return await everybody(journal)
    except NotFound:
        return Everybody((), ())


async def _with(home: homes.Home, work: Callable[[Introducing], Awaitable[T]]) -> T:
    async with _introducing(home) as by:
        return await work(by)


@asynccontextmanager
async def _introducing(home: homes.Home) -> AsyncIterator[Introducing]:
    if is_awake(home):
        yield RemoteIntroductions(home.socket)
        return
    from daimon.offline.people import introducing

    async with introducing(home) as introductions:
        yield introductions


def _parted(contact: str) -> tuple[str, str]:
    channel, colon, sender = contact.partition(":")
    if not (channel and colon and sender):
        raise BadInput(f"{contact[:80]!r} names no chat; expected CHANNEL:SENDER, such as telegram:12345")
    return channel, sender


def _contact(of: Contact | Knock) -> str:
    return f"{of.channel}:{of.sender}"


def _text(words: str) -> Text:
    return Text(screen.plain(words))


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"
