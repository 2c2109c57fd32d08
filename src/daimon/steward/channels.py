"""Channels, for the page: all that `daimon channel` does, in a gateway that runs.

The settings first, then the secrets, which depend on them, then one live look whether the service lets us in; only then something is
written. What the service suggests is handed on: whose word about senders is believed, for one, is the owner's to decide.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from daimon import config, lines
from daimon.abi.errors import BadInput, DaimonError, LockedOut, Misconfigured, NotSent
from daimon.abi.ids import OWNER
from daimon.abi.ports import Overview
from daimon.gateway.answers import LineState
from daimon.gateway.checks.found import Checked
from daimon.gateway.introductions import Introductions
from daimon.gateway.room import settings_channels as shown
from daimon.gateway.room.settings_changed import Changed
from daimon.gateway.room.settings_channels import ChannelWish
from daimon.hookup import Hookup, token_for
from daimon.lines import Wanted
from daimon.steward.channel_questions import FIELDS, HOW, SECRETS, TITLES, usable
from daimon.steward.estate import Estate

T = TypeVar("T")
MOST_COUNTED = 1_000
LATER: dict[str, tuple[shown.Asked, ...]] = {
    "telegram": (shown.Asked("api", "Bot API server", "only if you run one of your own", False),),
    "mail": (
        shown.Asked("security", "Security", "tls for nearly all; none on this machine only", False, ("tls", "starttls", "none")),
        shown.Asked("user", "User name", "to log in with; left out, the address", False),
        shown.Asked("authserv_id", "Who is believed about senders", "the check suggests it; nobody can talk by mail without", False),
    ),
}
"""What need not be filled in."""


@dataclass(frozen=True, slots=True)
class Switchgear:
    """Channels as they run."""

    states: Callable[[], tuple[LineState, ...]]
    poke: Callable[[str], bool]
    overview: Overview
    introductions: Introductions


class HomeChannels:
    def __init__(self, estate: Estate, running: Switchgear) -> None:
        self._estate, self._running = estate, running

    async def view(self) -> shown.ChannelsView:
        settings = await asyncio.to_thread(self._estate.settings)
        states = {line.name: line for line in self._running.states()}
        wanted = lines.all_wanted(settings)
        others = [name for name in states if name not in wanted]
        rows = [await self._row(name, each, states.get(name), settings) for name, each in wanted.items()]
        rows += [await self._row(name, None, states[name], settings) for name in others]
        return shown.ChannelsView(tuple(rows), tuple(map(_form, lines.KINDS)))

    async def _row(self, name: str, wanted: Wanted | None, line: LineState | None, settings: config.Settings) -> shown.ChannelRow:
        secrets = {} if wanted is None else lines.secrets_of(wanted)
        said = {} if wanted is None else {key: str(value) for key, value in wanted.model_dump(exclude_defaults=True).items()}
        plain = {key: value for key, value in said.items() if key not in secrets}
        lacks = () if wanted is None else await asyncio.to_thread(self._lacks, wanted, settings.gateway.public_url)
        queued, unknown = await self._count(name, "queued", "sending"), await self._count(name, "unknown")
        return shown.ChannelRow(name, TITLES.get(name, name), line, plain, secrets, lacks, queued, unknown, await self._is_paired(name))

    def _lacks(self, wanted: Wanted, public_url: str) -> tuple[str, ...]:
        try:
            return lines.lacking(wanted, self._estate.vault, self._estate.environment, public_url)
        except Misconfigured as locked:
            return (str(locked),)

    async def _count(self, name: str, *states: str) -> int:
        return sum([len(await self._running.overview.mailings(MOST_COUNTED, name, state)) for state in states])

    async def _is_paired(self, name: str) -> bool:
        everybody = await self._running.introductions.everybody()
        return any(contact.channel == name for known in everybody.people if known.person.id == OWNER for contact in known.contacts)

    async def check(self, name: str) -> Checked:
        hookup = await asyncio.to_thread(self._hookup)
        return await _checked(hookup, hookup.wanted(name), {})

    async def add(self, name: str, wish: ChannelWish) -> shown.AddedChannel:
        if name not in lines.KINDS:
            raise BadInput(f"there is no channel {name[:80]!r}; it is one of {', '.join(lines.KINDS)}")
        async with self._estate.turn:
            hookup = await asyncio.to_thread(self._hookup)
            wanted = await asyncio.to_thread(hookup.draft, name, {key: value for key, value in wish.fields.items() if value.strip()})
            typed = await self._typed(hookup, wanted, wish)
            checked = await _checked(hookup, wanted, typed) if wish.is_tested else None
            await asyncio.to_thread(hookup.add, wanted, typed)
            changed = await self._estate.changed()
            self._running.poke(name)  # one that only got another secret may be waiting for its next try
        return shown.AddedChannel(name, checked, await self._is_paired(name), changed)

    async def _typed(self, hookup: Hookup, wanted: Wanted, wish: ChannelWish) -> dict[str, str]:
        """The secrets that are new, by setting. Raises BadInput for one that is neither given nor kept."""
        name, settings = lines.name_of(wanted), lines.secrets_of(wanted)
        if unknown := sorted(set(wish.secrets) - set(settings)):
            raise BadInput(f"{TITLES[name]} has no secret {unknown[0]!r}; it has {', '.join(settings)}")
        if wish.password and isinstance(wanted, config.Matrix):
            return {"token": await _asked(token_for(wanted.homeserver, wanted.user, wish.password), (wish.password,))}
        typed = {setting: usable(setting, value) for setting, value in wish.secrets.items() if value.strip()}
        kept = await asyncio.to_thread(hookup.kept, wanted)
        for setting in settings:
            if setting not in typed and setting not in kept:
                asked = SECRETS[name, setting]
                raise BadInput(f"{asked.question} is missing: {asked.where}")
        return typed

    async def remove(self, name: str, with_secrets: bool) -> Changed:
        async with self._estate.turn:
            hookup = await asyncio.to_thread(self._hookup)
            left = await asyncio.to_thread(hookup.remove, name)
            if with_secrets:
                await asyncio.to_thread(hookup.forget, left)
            where = "out of the vault too" if with_secrets else "still in the vault"
            return await self._estate.changed(*(f"its secret {secret} is {where}" for secret in left))

    def _hookup(self) -> Hookup:
        return Hookup(self._estate.home, self._estate.environment, vault=self._estate.vault)


async def _checked(hookup: Hookup, wanted: Wanted, typed: dict[str, str]) -> Checked:
    return await _asked(hookup.test(wanted, typed), tuple(typed.values()))


async def _asked(asking: Awaitable[T], secrets: tuple[str, ...]) -> T:
    """A service that does not let us in, or cannot be asked, was named wrongly: whoever named it hears why, without what was typed."""
    try:
        return await asking
    except (LockedOut, NotSent, Misconfigured) as failure:
        raise BadInput(_without(secrets, str(failure))) from None
    except DaimonError:
        raise
    except (OSError, TimeoutError) as failure:
        raise BadInput(_without(secrets, f"the service could not be asked: {str(failure) or type(failure).__name__}")) from None


def _without(secrets: tuple[str, ...], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text[:600]


def _form(name: str) -> shown.ChannelForm:
    fields = tuple(shown.Asked(key, asked.question, asked.where, True) for key, asked in FIELDS.get(name, {}).items())
    secrets = tuple(
        shown.Asked(key, asked.question.partition(" (Enter")[0], asked.where, True)
        for (kind, key), asked in SECRETS.items()
        if kind == name
    )
    return shown.ChannelForm(name, TITLES[name], HOW[name], (*fields, *LATER.get(name, ())), secrets, name == "matrix")
