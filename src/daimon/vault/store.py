"""The vault, as everybody uses it: `abi.secret.Secrets`, and what its owner does with it.

A value leaves in four ways only, and each is recorded: to a client that speaks to one of the secret's hosts (`reveal`), to the proxy
together with its stand-in (`injections`, and `used` when it was put in), to whoever checks signatures of others with it (`checking`), and
to whoever keeps values out of texts (`known`). What is shown to people is an `Entry`, which has no value; only the secret of a webhook,
which the owner must enter elsewhere, is shown to the owner who asks for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from daimon.abi.errors import BadInput, Denied, NotFound
from daimon.abi.ids import AgentId
from daimon.abi.ports import Clock
from daimon.abi.secret import Injection
from daimon.vault import scope
from daimon.vault.placeholder import placeholder
from daimon.vault.redact import Known
from daimon.vault.sealed_file import All, SealedFile
from daimon.vault.secret import FEWEST_BYTES, Secret, check_injectable, checked, usable
from daimon.vault.source import Source
from daimon.vault.uses import Use, Uses


@dataclass(frozen=True, slots=True)
class Entry:
    """A secret without its value."""

    name: str
    service: str
    hosts: tuple[str, ...]
    agents: tuple[str, ...]
    variable: str
    created_at: datetime
    rotated_at: datetime | None
    has_previous: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """A change of what is known of a secret besides its value. None: stays."""

    service: str | None = None
    hosts: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    variable: str | None = None


class Vault:
    def __init__(self, file: SealedFile, uses: Uses, clock: Clock) -> None:
        self._file = file
        self._uses = uses
        self._clock = clock
        self._known: tuple[Known, ...] = ()
        self._known_of: All | None = None
        self._checked: set[tuple[str, str, datetime | None]] = set()

    def reveal(self, name: str, by: str, host: str) -> str:
        secret = self._get(name)
        if not scope.holds(secret.hosts, host):
            places = ", ".join(secret.hosts) or "nowhere"
            raise Denied(f"the secret {name} may not go to {host}, only to {places}; `daimon secrets scope {name}` changes that")
        self._uses.note(name, by, host)
        return secret.value

    def injections(self, names: tuple[str, ...], agent: AgentId) -> tuple[Injection, ...]:
        return tuple(self._injection(name, agent) for name in names)

    def used(self, name: str, by: str, host: str) -> None:
        self._uses.note(name, by, host)

    def checking(self, names: tuple[str, ...], by: str) -> tuple[str, ...]:
        """The values of those that are there, to check what others signed with them; they stay here. A use is recorded the first time."""
        secrets = self._file.read()
        found = [secrets[name] for name in names if name in secrets]
        for secret in found:
            if (use := (secret.name, by, secret.rotated_at)) not in self._checked:
                self._checked.add(use)
                self._uses.note(secret.name, by, "")
        return tuple(secret.value for secret in found)

    def known(self) -> tuple[Known, ...]:
        """All values, those of before too. The very same tuple as long as nothing has changed, so that asking often is cheap."""
        secrets = self._file.read()
        if secrets is not self._known_of:
            self._known = tuple(
                dict.fromkeys(Known(name, value) for name, secret in secrets.items() for value in (secret.value, *secret.previous))
            )
            self._known_of = secrets
        return self._known

    def masked(self, name: str, text: str) -> str:
        """The text without the values of this one."""
        secret = self._file.read().get(name)
        for value in () if secret is None else (secret.value, *secret.previous):
            text = text.replace(value, "***")
        return text

    @property
    def source(self) -> str:
        """Where the key is that is in force."""
        return self._file.source

    @property
    def warnings(self) -> tuple[str, ...]:
        return (self._uses.warning,) if self._uses.warning else ()

    def entries(self) -> tuple[Entry, ...]:
        return tuple(_entry(secret) for _, secret in sorted(self._file.read().items()))

    def entry(self, name: str) -> Entry:
        return _entry(self._get(name))

    def has(self, name: str) -> bool:
        return name in self._file.read()

    def is_same(self, name: str, value: str) -> bool:
        """Is this the value? For whoever has it already."""
        found = self._file.read().get(name)
        return found is not None and found.value == value

    def uses(self, name: str) -> tuple[Use, ...]:
        return self._uses.of(name)

    def check_new(self, name: str, given: Scope) -> None:
        """Raises BadInput for what `add` would refuse whatever the value is."""
        _scoped(Secret(name, "x" * FEWEST_BYTES, self._clock.now()), given)
        if self.has(name):
            raise _taken(name)

    def add(self, name: str, value: str, given: Scope) -> None:
        """Raises BadInput for a name that is taken, and for a value too short for its scope."""
        secret = _scoped(Secret(name, value, self._clock.now()), given)
        if secret.hosts or secret.agents:
            check_injectable(secret)

        def added(before: All) -> All:
            if name in before:
                raise _taken(name)
            return {**before, name: secret}

        self._file.change(added)

    def keep(self, name: str, value: str, service: str, hosts: tuple[str, ...]) -> None:
        """A key that a client shows to its provider: new, or a new value for the same name, which may then go to these hosts too."""
        self.keep_all(((name, value, service, hosts),))

    def keep_all(self, keys: tuple[tuple[str, str, str, tuple[str, ...]], ...]) -> None:
        """All or none."""
        now = self._clock.now()

        def kept(before: All) -> All:
            after = dict(before)
            for name, value, service, hosts in keys:
                old = after.get(name, Secret(name, value, now, service))
                after[name] = checked(replace(old.rotated(usable(value), now), hosts=(*old.hosts, *hosts)))
            return after

        self._file.change(kept)

    def rotate(self, name: str, value: str) -> None:
        def rotated(secret: Secret) -> Secret:
            new = secret.rotated(usable(value), self._clock.now())
            if new.agents:
                check_injectable(new)
            return new

        self._edit(name, rotated)

    def scope(self, name: str, given: Scope) -> None:
        def scoped(secret: Secret) -> Secret:
            new = _scoped(secret, given)
            if new.agents:
                check_injectable(new)
            return new

        self._edit(name, scoped)

    def forget(self, name: str) -> None:
        """What it was before: from now on nobody looks for that in texts."""
        self._edit(name, lambda secret: replace(secret, previous=()))

    def remove(self, name: str) -> None:
        def removed(before: All) -> All:
            if name not in before:
                raise _missing(name)
            return {other: secret for other, secret in before.items() if other != name}

        self._file.change(removed)

    def undoing(self, name: str) -> Callable[[], None]:
        """What brings this name back to how it is now."""
        was = self._file.read().get(name)

        def undo() -> None:
            def undone(before: All) -> All:
                rest = {other: secret for other, secret in before.items() if other != name}
                return rest if was is None else {**rest, name: was}

            self._file.change(undone)

        return undo

    def seal(self, source: Source) -> None:
        self._file.reseal(source)

    def close(self) -> None:
        self._uses.close()

    def _get(self, name: str) -> Secret:
        found = self._file.read().get(name)
        if found is None:
            raise _missing(name)
        return found

    def _injection(self, name: str, agent: AgentId) -> Injection:
        secret = self._get(name)
        if not scope.admits(secret.agents, agent):
            whose = ", ".join(secret.agents) or "nobody"
            raise Denied(
                f"the secret {name} is not for {agent}, but for {whose}; `daimon secrets scope {name} --agent {agent}` changes that"
            )
        value = secret.value.encode()
        if len(value) < FEWEST_BYTES or not secret.hosts:
            why = "it has no hosts" if not secret.hosts else f"it is shorter than {FEWEST_BYTES} bytes"
            raise Denied(f"the secret {name} cannot be used from a box: {why}")
        self._uses.note(name, f"box:{agent}", "")
        return Injection(name, placeholder(len(value)), value, secret.hosts)

    def _edit(self, name: str, edited: Callable[[Secret], Secret]) -> None:
        def all_edited(before: All) -> All:
            if name not in before:
                raise _missing(name)
            return {**before, name: edited(before[name])}

        self._file.change(all_edited)


def _taken(name: str) -> BadInput:
    return BadInput(f"{name} is there already; `daimon secrets rotate {name}` gives it a new value")


def _missing(name: str) -> NotFound:
    return NotFound(f"there is no secret {name!r}; `daimon secrets list` shows all, `daimon secrets add {name}` makes it")


def _scoped(secret: Secret, given: Scope) -> Secret:
    """Raises BadInput."""
    return checked(
        replace(
            secret,
            service=secret.service if given.service is None else given.service,
            hosts=secret.hosts if given.hosts is None else given.hosts,
            agents=secret.agents if given.agents is None else given.agents,
            variable=secret.variable if given.variable is None else given.variable,
        )
    )


def _entry(secret: Secret) -> Entry:
    return Entry(
        secret.name,
        secret.service,
        secret.hosts,
        secret.agents,
        secret.variable,
        secret.created_at,
        secret.rotated_at,
        bool(secret.previous),
    )
