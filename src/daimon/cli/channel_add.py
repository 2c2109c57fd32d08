"""`daimon channel add`: from options and answers to a channel that works.

First the settings, then the secrets, which depend on them, then one live look whether the service lets us in; only then something is
written. What the options say is not asked. At the end comes what is left to do: pairing a chat, without which the agent answers nobody.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from daimon import config, homes, lines
from daimon.abi.errors import BadInput, DaimonError, LockedOut
from daimon.abi.people import Invitation, Rank
from daimon.cli import hidden, introduced, screen
from daimon.cli.channel_form import Form, Silent, Terminal, usual
from daimon.cli.reloading import News, reloaded
from daimon.gateway import pairing
from daimon.gateway.checks.found import Checked
from daimon.gateway.client import Client
from daimon.hookup import Hookup, token_for
from daimon.keeper import FROM_ENVIRONMENT
from daimon.lines import Wanted
from daimon.steward.channel_questions import FIELDS, SECRETS, usable

_NEWS = News("the running gateway listens to it now", "the next start (`daimon up`) listens to it")
_MOST_LINE = 16 * 1024
_LONG_NAME = 40


@dataclass(frozen=True, slots=True)
class Given:
    """Where the options say that secrets are."""

    variables: Mapping[str, str | None] = field(default_factory=dict)
    """By setting."""
    on_stdin: tuple[str, ...] = ()
    """Settings whose secrets come through stdin, a line each, in this order."""
    logs_in: bool = False
    """The password of a Matrix account comes through stdin."""


@dataclass(frozen=True, slots=True)
class Wish:
    name: str
    fields: dict[str, object]
    given: Given
    is_tested: bool
    pairs: bool | None
    """None: whoever sits there is asked."""


def said(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def add(given: Path | None, wish: Wish, as_json: bool) -> None:
    is_at_terminal = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    with closing(Hookup(homes.home_at(given), os.environ, hidden.passphrase)) as hookup:
        adding = _Adding(hookup, wish, Terminal() if is_at_terminal else Silent())
        try:
            wanted, typed, checked = adding.all()
        except KeyboardInterrupt:
            screen.remark("\nnothing was written")
            raise
        wanted = hookup.add(wanted, typed)
        is_heard, heard = reloaded(hookup.home, _NEWS)
        if is_heard:
            with suppress(DaimonError):  # one that only got another secret may be waiting for its next try
                Client(hookup.home.socket).poke(wish.name)
        if not as_json:
            _tell(hookup, wanted, checked, heard)
        is_paired = introduced.has_owner_on(hookup.home, wish.name)
        pairs = wish.pairs if wish.pairs is not None else not is_paired and adding.form.pairs()
        made = introduced.invited(hookup.home, "", Rank.OWNER) if pairs else None
        if as_json:
            screen.emit_value(_told(wanted, checked, made) | {"reloaded": is_heard})
        elif made is None and is_paired:
            screen.remark("your chat there is paired already")
        else:
            _tell_pairing(checked, made)


class _Adding:
    def __init__(self, hookup: Hookup, wish: Wish, form: Form) -> None:
        self._hookup = hookup
        self._wish = wish
        self.form = form

    def all(self) -> tuple[Wanted, dict[str, str], Checked | None]:
        """The channel, the secrets that are new, by setting, and what the service said."""
        wanted = self._drafted()
        typed = self._secrets(wanted)
        if not self._wish.is_tested:
            return wanted, typed, None
        while True:
            try:
                checked = asyncio.run(self._hookup.test(wanted, typed))
            except LockedOut as refusal:
                self.form.refused(refusal)
                typed = self._asked(wanted, tuple(lines.secrets_of(wanted)))
            else:
                wanted, checked = self._advised(wanted, checked)
                return wanted, typed, checked

    def _drafted(self) -> Wanted:
        name, fields = self._wish.name, dict(self._wish.fields)
        known = lines.all_wanted(self._hookup.settings).get(name)
        for setting, asked in FIELDS.get(name, {}).items():
            if setting not in fields and known is None:
                fields[setting] = self.form.field(asked, usual(name, setting, fields))
        for setting, variable in self._wish.given.variables.items():
            if variable is not None:
                fields[setting] = f"{FROM_ENVIRONMENT}{variable}"
        return self._hookup.draft(name, fields)

    def _secrets(self, wanted: Wanted) -> dict[str, str]:
        given, settings = self._wish.given, lines.secrets_of(wanted)
        if given.logs_in:
            return self._logged_in(wanted, _line())
        typed = {setting: usable(setting, _line()) for setting in given.on_stdin}
        kept = self._hookup.kept(wanted)
        from_variable = {setting for setting, name in settings.items() if name.startswith(FROM_ENVIRONMENT)} - typed.keys()
        for setting in from_variable - kept.keys() if self._wish.is_tested else ():
            raise BadInput(f"{_variable(settings[setting])} is not set in this environment; export it first")
        there = {*typed, *kept, *from_variable}
        return typed | self._asked(wanted, tuple(setting for setting in settings if setting not in there))

    def _asked(self, wanted: Wanted, settings: tuple[str, ...]) -> dict[str, str]:
        typed: dict[str, str] = {}
        for setting in settings:
            secret = self.form.secret(SECRETS[self._wish.name, setting])
            typed |= {setting: usable(setting, secret)} if secret else self._logged_in(wanted, self.form.password())
        return typed

    def _logged_in(self, wanted: Wanted, password: str) -> dict[str, str]:
        assert isinstance(wanted, config.Matrix)
        return {"token": asyncio.run(token_for(wanted.homeserver, wanted.user, password))}

    def _advised(self, wanted: Wanted, checked: Checked) -> tuple[Wanted, Checked]:
        """With what the service suggests, where the owner takes it; then nothing needs to be said of that any more."""
        why = "; ".join(checked.facts)
        taken = {name: value for name, value in checked.advised.items() if self.form.takes(name, value, why)}
        if not taken:
            return wanted, checked
        left = {name: value for name, value in checked.advised.items() if name not in taken}
        warnings = tuple(each for each in checked.warnings if each.split()[0] not in taken)
        drafted = self._hookup.draft(self._wish.name, wanted.model_dump(exclude_unset=True) | taken)
        return drafted, replace(checked, advised=left, warnings=warnings)


def _line() -> str:
    text = sys.stdin.readline(_MOST_LINE).rstrip("\r\n")
    if not text:
        raise BadInput("nothing came through stdin where a secret was to come, one a line")
    return text


def _variable(name: str) -> str:
    """A secret where a name belongs is not repeated: what is on the screen stays there."""
    variable = name.removeprefix(FROM_ENVIRONMENT)
    return variable if variable.isidentifier() and len(variable) <= _LONG_NAME else "what the option names (a variable, not a secret)"


def _told(wanted: Wanted, checked: Checked | None, made: Invitation | None) -> dict[str, object]:
    said: dict[str, object] = {"channel": lines.name_of(wanted), "secrets": lines.secrets_of(wanted)}
    if checked is not None:
        said |= {"who": checked.who, "facts": list(checked.facts), "warnings": list(checked.warnings), "advised": checked.advised}
    if made is not None:
        link = checked.link + made.code if checked is not None and checked.link else None
        said["pairing"] = {"code": pairing.shown(made.code), "until": made.until.isoformat(), "link": link}
    return said


def _tell(hookup: Hookup, wanted: Wanted, checked: Checked | None, heard: str) -> None:
    name = lines.name_of(wanted)
    screen.say(f"{name} is set up in {hookup.file}{f', as {checked.who}' if checked is not None else ''}")
    for fact in checked.facts if checked is not None else ():
        screen.remark(fact)
    for warning in checked.warnings if checked is not None else ():
        screen.remark(warning, style="yellow")
    for setting, value in checked.advised.items() if checked is not None else ():
        screen.remark(f"the server suggests {setting} = {value}; --{setting.replace('_', '-')} sets it")
    screen.remark(heard)


def _tell_pairing(checked: Checked | None, made: Invitation | None) -> None:
    where = checked.pair_at if checked is not None and checked.pair_at else "a chat with the agent there"
    if made is None:
        screen.remark(f"it answers nobody yet: `daimon people invite` makes a code; say it in {where}")
        return
    screen.say(pairing.shown(made.code))
    screen.remark(f"It pairs your own chat: say it in {where}. Valid until {made.until.astimezone():%H:%M}, once.")
    if checked is not None and checked.link:
        screen.say(f"{checked.link}{made.code}")
