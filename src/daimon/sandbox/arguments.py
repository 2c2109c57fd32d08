"""What the arguments of an allowed system call may be.

A filter sees six words of 64 bits and nothing behind a pointer. What is checked here is an `int` or shorter in the kernel, which drops
the upper half of the word; so the lower half is looked at and the upper is left alone, whatever a program put there. Of a pointer both
halves are looked at, and only whether it is one.

Each rule is a piece of a program that ends at one of the marks: `ALLOW`, or `refusal(errno)`. Branches give no mark only where the next
line goes on with the check.
"""

import errno
from collections.abc import Mapping
from types import MappingProxyType

from daimon.abi.box import Profile
from daimon.sandbox.bpf import AND, IF_ANY_BIT, IF_EQUAL, LOAD, Branch, Do, Goto, Line, Mark

ALLOW = "allow"
"""The mark where a call goes on."""

_ARGUMENTS_AT = 16
_WORD_BYTES = 8

_SET_ID_BITS = 0o6000
_O_CREAT_OR_TMPFILE = 0o100 | 0o20000000
_KIND_OF_FILE = 0o170000
_FIFO, _REGULAR, _SOCKET = 0o010000, 0o100000, 0o140000
_RENAME_WHITEOUT = 4

_NAMESPACES = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. Of clone, bit 0x80 is part of a signal's number, not NEWTIME."""

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _RAW, _SEQUENTIAL = 1, 2, 3, 5
_TCP, _UDP, _NETLINK_ROUTE = 6, 17, 0
_KIND_OF_SOCKET = 0xFFFF_FFFF & ~(0o2000000 | 0o4000)
"""Without SOCK_CLOEXEC and SOCK_NONBLOCK."""

_IOCTLS = (
    0x5412,  # TIOCSTI: types into the terminal for whoever reads it next
    0x541C,  # TIOCLINUX: pastes the console's selection
    0x541D,  # TIOCCONS: takes the console's messages
    0x5423,  # TIOCSETD: loads a line discipline, kernel code that nobody else needs
    0x4080_6685,  # FS_IOC_ENABLE_VERITY: a file of the owner that can never be written again
    0x800C_6613,  # FS_IOC_SET_ENCRYPTION_POLICY: a directory that needs a key from now on
    0xC050_6617,  # FS_IOC_ADD_ENCRYPTION_KEY: and the keys, kept in the kernel's memory
)
_PR_SET_MM = 35
_F_SETLEASE = 1024
"""Makes everybody else who opens the file wait, the owner too, for most of a minute each time."""
_F_SETSIG, _PR_SET_PDEATHSIG, _SIGCONT = 10, 1, 18
"""A signal that the kernel sends later for a program. This one starts what was stopped: nothing would stand still any more."""
_SUPERVISOR = 1
_PERSONALITIES = (0, 0x8, 0x4_0000, 0xFFFF_FFFF)
"""As usual; 32 bits in uname; without random addresses, as debuggers and sanitizers want; only ask."""


def rules(profile: Profile) -> Mapping[str, list[Line]]:
    """By call; a call without one is allowed whatever its arguments."""
    pieces: dict[str, list[Line]] = {
        "chmod": _without_bits(1, _SET_ID_BITS),
        "fchmod": _without_bits(1, _SET_ID_BITS),
        "fchmodat": _without_bits(2, _SET_ID_BITS),
        "fchmodat2": _without_bits(2, _SET_ID_BITS),
        "creat": _without_bits(1, _SET_ID_BITS),
        "mkdir": _without_bits(1, _SET_ID_BITS),
        "mkdirat": _without_bits(2, _SET_ID_BITS),
        "open": _opening("open", 1),
        "openat": _opening("openat", 2),
        "mknod": _making("mknod", 1),
        "mknodat": _making("mknodat", 2),
        "renameat2": _without_bits(4, _RENAME_WHITEOUT, errno.EINVAL),
        "clone": _without_bits(0, _NAMESPACES),
        "ioctl": _none_of(1, _IOCTLS),
        "fcntl": _signalling("fcntl", 1, _F_SETLEASE, _F_SETSIG),
        "prctl": _signalling("prctl", 0, _PR_SET_MM, _PR_SET_PDEATHSIG),
        "timer_create": _nothing_at(1),
        "mq_notify": _nothing_at(1),
        "prlimit64": _none_of(0, (_SUPERVISOR,)),
        "personality": _one_of(0, _PERSONALITIES),
        "socketpair": _pairs(),
        "socket": [Goto(refusal(errno.EAFNOSUPPORT))] if profile == "strict" else _sockets(),
    }
    return MappingProxyType(pieces)


def refusal(number: int) -> str:
    """The mark where a call ends with this error."""
    return errno.errorcode[number]


def _load(argument: int) -> Do:
    return Do(LOAD, _ARGUMENTS_AT + _WORD_BYTES * argument)


def _without_bits(argument: int, bits: int, error: int = errno.EPERM) -> list[Line]:
    return [_load(argument), Branch(IF_ANY_BIT, bits, refusal(error), ALLOW)]


def _none_of(argument: int, values: tuple[int, ...]) -> list[Line]:
    *first, last = values
    no = refusal(errno.EPERM)
    return [_load(argument), *(Branch(IF_EQUAL, value, no) for value in first), Branch(IF_EQUAL, last, no, ALLOW)]


def _one_of(argument: int, values: tuple[int, ...], error: int = errno.EPERM) -> list[Line]:
    return [_load(argument), *_is_one_of(values, error)]


def _is_one_of(values: tuple[int, ...], error: int) -> list[Line]:
    *first, last = values
    return [*(Branch(IF_EQUAL, value, ALLOW) for value in first), Branch(IF_EQUAL, last, ALLOW, refusal(error))]


def _signalling(name: str, what: int, never: int, asks: int) -> list[Line]:
    """One order is never allowed; the one that asks for a signal is, unless for SIGCONT."""
    first: list[Line] = [_load(what), Branch(IF_EQUAL, never, refusal(errno.EPERM)), Branch(IF_EQUAL, asks, f"{name} signal", ALLOW)]
    return [*first, Mark(f"{name} signal"), *_none_of(what + 1, (_SIGCONT,))]


def _nothing_at(argument: int) -> list[Line]:
    """A pointer that is none: what it would point to names a signal, and cannot be looked at. Programs know what to do without."""
    no = refusal(errno.ENOSYS)
    upper = Do(LOAD, _ARGUMENTS_AT + _WORD_BYTES * argument + _WORD_BYTES // 2)
    return [_load(argument), Branch(IF_EQUAL, 0, "", no), upper, Branch(IF_EQUAL, 0, ALLOW, no)]


def _opening(name: str, flags: int) -> list[Line]:
    """The mode counts only where a file is made; else a program need not have set it."""
    makes = Branch(IF_ANY_BIT, _O_CREAT_OR_TMPFILE, f"{name} makes", ALLOW)
    return [_load(flags), makes, Mark(f"{name} makes"), *_without_bits(flags + 1, _SET_ID_BITS)]


def _making(name: str, mode: int) -> list[Line]:
    kinds = (0, _REGULAR, _FIFO, _SOCKET)
    bits = Branch(IF_ANY_BIT, _SET_ID_BITS, refusal(errno.EPERM), f"{name} kind")
    return [_load(mode), bits, Mark(f"{name} kind"), Do(AND, _KIND_OF_FILE), *_is_one_of(kinds, errno.EPERM)]


def _pairs() -> list[Line]:
    """Both ends are here already. A datagram socket could still be pointed at another one by its name; these two kinds cannot."""
    return [
        _load(0),
        Branch(IF_EQUAL, _AF_UNIX, "", refusal(errno.EAFNOSUPPORT)),
        _load(1),
        Do(AND, _KIND_OF_SOCKET),
        *_is_one_of((_STREAM, _SEQUENTIAL), errno.ESOCKTNOSUPPORT),
    ]


def _sockets() -> list[Line]:
    """TCP and UDP, and what the C library asks about its own addresses. The protocol is looked at because others load kernel code."""
    return [
        _load(0),
        Branch(IF_EQUAL, _AF_INET, "inet"),
        Branch(IF_EQUAL, _AF_INET6, "inet"),
        Branch(IF_EQUAL, _AF_NETLINK, "netlink", refusal(errno.EAFNOSUPPORT)),
        Mark("inet"),
        _load(1),
        Do(AND, _KIND_OF_SOCKET),
        Branch(IF_EQUAL, _STREAM, "stream"),
        Branch(IF_EQUAL, _DATAGRAM, "datagram", refusal(errno.ESOCKTNOSUPPORT)),
        Mark("stream"),
        *_one_of(2, (0, _TCP), errno.EPROTONOSUPPORT),
        Mark("datagram"),
        *_one_of(2, (0, _UDP), errno.EPROTONOSUPPORT),
        Mark("netlink"),
        _load(1),
        Do(AND, _KIND_OF_SOCKET),
        Branch(IF_EQUAL, _RAW, "routes"),
        Branch(IF_EQUAL, _DATAGRAM, "routes", refusal(errno.ESOCKTNOSUPPORT)),
        Mark("routes"),
        *_one_of(2, (_NETLINK_ROUTE,), errno.EPROTONOSUPPORT),
    ]
