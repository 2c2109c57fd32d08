"""The system-call filter of a box: a program that the kernel asks about every call, and that nothing in the box can take off again.

It allows what is on a list (`profiles.py`) with arguments that are in order (`arguments.py`), and nothing else. First it looks at which
machine's calls these are, for the same number means something else on another: a program for another machine is killed, and on x86_64 one
that uses the x32 numbers. Then it searches the number in halves, which takes about seven comparisons wherever the call stands; and the
kernel itself remembers which calls are allowed whatever their arguments.

    program(profile) -> bytes      hand them to `bwrap --seccomp FD`, or to seccomp(2)

The filter does not know names of files, addresses, or anything else behind a pointer. Files are the business of mounts and Landlock,
addresses that of the network namespace.
"""

import errno
import os
from collections.abc import Container, Mapping

from daimon.abi.box import Profile
from daimon.abi.errors import Misconfigured
from daimon.sandbox.arguments import ALLOW, refusal, rules
from daimon.sandbox.bpf import IF_ANY_BIT, IF_AT_LEAST, IF_EQUAL, LOAD, RETURN, Branch, Do, Line, Mark, assemble
from daimon.sandbox.profiles import FORBIDDEN, allowed
from daimon.sandbox.syscalls import NUMBERS

_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32_BIT = 0x4000_0000
_SKIPPED = 0xFFFF_FFFF
"""The number that a debugger puts in the place of a call which it does not let happen."""

_KILL = "kill"
_RETURN_ALLOW, _RETURN_KILL_PROCESS, _RETURN_ERROR = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_ERRORS = (errno.EPERM, errno.EINVAL, errno.ENOSYS, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EAFNOSUPPORT)


def program(profile: Profile, machine: str | None = None) -> bytes:
    """An array of `struct sock_filter`. `machine` is as uname names it; None: this one. Raises Misconfigured where there is no table."""
    machine = machine or os.uname().machine
    if machine not in _ARCHITECTURES:
        known = " and ".join(_ARCHITECTURES)
        raise Misconfigured(f"there is no system-call filter for {machine!r} machines; a box needs one of {known}")
    checked = {name: rule for name, rule in rules(profile).items() if name in allowed(profile) and name in NUMBERS[machine]}
    return assemble([
        Do(LOAD, _ARCHITECTURE_AT),
        Branch(IF_EQUAL, _ARCHITECTURES[machine], "", _KILL),
        Do(LOAD, _NUMBER_AT),
        Branch(IF_EQUAL, _SKIPPED, ALLOW if profile == "debug" else refusal(errno.ENOSYS)),
        *_foreign_numbers(machine),
        *_search(_stretches({number: _lead(name, profile, checked) for name, number in NUMBERS[machine].items()})),
        *_checks(checked),
        *_ends(),
    ])  # fmt: skip


def _foreign_numbers(machine: str) -> list[Line]:
    return [Branch(IF_ANY_BIT, _X32_BIT, _KILL)] if machine == "x86_64" else []


def _stretches(leads: Mapping[int, str]) -> list[tuple[int, str]]:
    """First numbers, rising, each with the mark where it and those up to the next one lead."""
    unknown = refusal(errno.ENOSYS)
    stretches: list[tuple[int, str]] = []
    for number in range(max(leads) + 2):
        lead = leads.get(number, unknown)
        if not stretches or lead != stretches[-1][1]:
            stretches.append((number, lead))
    return stretches


def _lead(name: str, profile: Profile, checked: Container[str]) -> str:
    if name in allowed(profile):
        return _check(name) if name in checked else ALLOW
    return refusal(errno.EPERM if name in FORBIDDEN else errno.ENOSYS)


def _check(name: str) -> str:
    return f"check {name}"


def _search(stretches: list[tuple[int, str]]) -> list[Line]:
    """Down a tree: is the number at least that of the middle? A half that is a single stretch is its mark, and takes no line."""
    middle = len(stretches) // 2
    low, high = stretches[:middle], stretches[middle:]
    upper = f"from {high[0][0]} to {high[-1][0]}"
    then = high[0][1] if len(high) == 1 else upper
    other = low[0][1] if len(low) == 1 else ""
    lines: list[Line] = [Branch(IF_AT_LEAST, high[0][0], then, other)]
    lines += _search(low) if len(low) > 1 else []
    lines += [Mark(upper), *_search(high)] if len(high) > 1 else []
    return lines


def _checks(checked: Mapping[str, list[Line]]) -> list[Line]:
    return [line for name, rule in checked.items() for line in (Mark(_check(name)), *rule)]


def _ends() -> list[Line]:
    lines: list[Line] = [Mark(ALLOW), Do(RETURN, _RETURN_ALLOW), Mark(_KILL), Do(RETURN, _RETURN_KILL_PROCESS)]
    for number in _ERRORS:
        lines += [Mark(refusal(number)), Do(RETURN, _RETURN_ERROR | number)]
    return lines
