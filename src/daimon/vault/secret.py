"""One secret, and what it may look like.

A value is text of 1 to 65,536 bytes. One that must pass through a box needs 8 bytes or more: its stand-in has the same length, and a
shorter one would be found by chance in what a program writes, or guessed.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime

from daimon.abi.errors import BadInput
from daimon.vault import scope

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_BYTES = 65_536
FEWEST_BYTES = 8
"""To be put into requests of a box."""
MOST_PREVIOUS = 8
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_SERVICE = 200


@dataclass(frozen=True, slots=True)
class Secret:
    name: str
    value: str = field(repr=False)
    created_at: datetime
    service: str = ""
    """Who it is for, in the owner's words."""
    hosts: tuple[str, ...] = ()
    """Where it may go: api.example.org, *.example.org, 127.0.0.1:8000. Empty: nowhere."""
    agents: tuple[str, ...] = ()
    """Whose boxes may hold its stand-in. Empty: nobody's. `*`: everybody's."""
    variable: str = ""
    """Where programs of a box look for it."""
    rotated_at: datetime | None = None
    previous: tuple[str, ...] = field(default=(), repr=False)
    """What it was before, newest first: no longer shown to anybody, and still kept out of texts."""

    def rotated(self, value: str, at: datetime) -> "Secret":
        """The same value again changes nothing."""
        if value == self.value:
            return self
        older = tuple(old for old in (self.value, *self.previous) if old != value)
        return replace(self, value=value, rotated_at=at, previous=older[:MOST_PREVIOUS])


def checked(secret: Secret) -> Secret:
    """As it is kept. Raises BadInput, never with the value in it."""
    if not NAME.fullmatch(secret.name):
        raise BadInput(f"{secret.name!r} cannot be a name; use up to 64 letters, digits, '-', '_' and '.'")
    if len(secret.service) > _MOST_SERVICE or not secret.service.isprintable():
        raise BadInput(f"the service of {secret.name} must be one line of at most {_MOST_SERVICE} characters")
    if secret.variable and not _VARIABLE.fullmatch(secret.variable):
        raise BadInput(f"{secret.variable!r} cannot be a variable of the environment; use letters, digits and '_', such as GITHUB_TOKEN")
    return replace(
        secret,
        value=usable(secret.value),
        hosts=tuple(dict.fromkeys(scope.host_pattern(host) for host in secret.hosts)),
        agents=tuple(dict.fromkeys(scope.agent(name) for name in secret.agents)),
        variable=secret.variable or variable_for(secret.name),
    )


def usable(value: str) -> str:
    """One line without the blanks that copying brings; more lines, such as a private key, as they are. Raises BadInput."""
    bare = value if "\n" in value.strip() else value.strip()
    if not bare.strip():
        raise BadInput("the value is empty")
    try:
        size = len(bare.encode())
    except UnicodeEncodeError:
        raise BadInput("the value is not text; encode it first, such as with base64") from None
    if size > MOST_BYTES:
        raise BadInput(f"the value is longer than {MOST_BYTES:,} bytes")
    if _CONTROL.search(bare):
        raise BadInput("the value holds bytes that no text has; encode it first, such as with base64")
    return bare


def check_injectable(secret: Secret) -> None:
    """Raises BadInput for a value that is too short to have a stand-in."""
    if len(secret.value.encode()) < FEWEST_BYTES:
        raise BadInput(
            f"{secret.name} is shorter than {FEWEST_BYTES} bytes: its stand-in in a box would be as short, and so be found by chance "
            "in other words or guessed; ask the service for a longer one, or leave the hosts and agents out"
        )


def name_for(text: str) -> str:
    """A name as the vault takes it, made of one that somebody chose for another file."""
    return _NOT_IN_A_NAME.sub("-", text).lstrip("._-")[:64] or "key"


def variable_for(name: str) -> str:
    upper = re.sub(r"[^A-Z0-9]", "_", name.upper())
    return f"_{upper}" if upper[0].isdigit() else upper
