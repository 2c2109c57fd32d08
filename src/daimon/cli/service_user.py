"""`daimon service user`: makes the user that a gateway runs as, and says how to go on. It moves nothing and starts nothing.

What is done is what is shown: one command, by root. A user who is already there is left as it is.
"""

import os
import shlex
import sys
from pathlib import Path

from daimon import service
from daimon.abi.errors import BadInput, Misconfigured
from daimon.cli import screen
from daimon.cli.checkout import VARIABLE


def make(name: str, is_agreed: bool, as_json: bool) -> None:
    found = service.user.find(name)
    there = ensure(name, is_agreed)
    if as_json:
        screen.emit_value({"user": there.name, "uid": there.uid, "home": str(there.home), "made": found is None})
        return
    screen.say(f"user {there.name} ({there.uid}) {'is there already' if found else 'was made'}; its home is {there.home}")
    screen.say(f"next, as root:\n    {program()} up --as {there.name}")


def ensure(name: str, is_agreed: bool) -> service.user.User:
    """That user; made after it was shown how and agreed to. Raises BadInput, Misconfigured."""
    command = shlex.join(service.user.creation(name))
    if (found := service.user.find(name)) is not None:
        return found
    if os.geteuid() != 0:
        raise Misconfigured(f"only root can make a user; run this as root: {program()} service user --name {name}")
    screen.verbatim(f"this will run: {command}")
    if not is_agreed and not _agrees(name):
        raise BadInput(f"nothing was done: user {name} was not agreed to (--yes does without asking)")
    return service.user.create(name)


def offer() -> str:
    """For root on a terminal: how to have it otherwise."""
    name = service.user.USUAL
    make = (
        ""
        if service.user.find(name)
        else f"    {program()} service user   # makes a system user {name}; shows the command and asks first\n"
    )
    return f"to run it as a user of its own instead, stop it and enter:\n{make}    {program()} up --as {name}"


def _agrees(name: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Misconfigured(f"nobody is there to agree; run `{program()} service user --name {name} --yes`")
    sys.stderr.write("go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def program() -> str:
    """As it can be typed from anywhere."""
    checkout = os.environ.get(VARIABLE)
    return shlex.quote(str(Path(checkout) / "daimon")) if checkout else "daimon"
