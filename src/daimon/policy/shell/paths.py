"""Paths that a command must not take away whole, devices that it must not write on. Nothing here looks at a disk."""

import posixpath
import re
from fnmatch import fnmatchcase

from daimon.policy.shell.words import ME, UNKNOWN

HOME = f"/home/{ME}"
_TOP = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
]
_APPLE = ["System", "Library", "Applications", "Users", "Volumes", "private"]
_BELOW = [
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var/lib",
    "/lib/modules",
    "/etc/ssh",
    "/etc/pam.d",
]
SYSTEM = frozenset({"/", *(f"/{name}" for name in _TOP + _APPLE), *_BELOW})
_LENT = frozenset({"/usr/local", "/opt", "/srv", "/mnt", "/media", "/Volumes", "/Applications"})
"""Often a person's own: its modes and owners may be changed as a whole."""
_HOMES = re.compile(r"/(?:home|Users)/[^/]+|/root")
_ALL = re.compile(r"(?:/(?:\*+|\.\*|\.\[\^?!?\.\]\*|\?\*|\.\?\?\*|\{\*,\.\*\}))+/?$")
_DISK = re.compile(
    r"/dev/(?:[shvx]v?d[a-z*?][a-z0-9*?]*|nvme\d[\w*?]*|mmcblk\d[\w*?]*|r?disk\d[\w*?]*|dm-\d+|md\d+|mapper/(?!control$).+|disk/by-[a-z]+/.+|[shvx]v?d\*|nvme\*)"
)
_MEMORY = re.compile(r"/dev/(?:mem|kmem|port)|/proc/kcore")
_VITAL = re.compile(r"/etc/(?:passwd|shadow|gshadow|sudoers)-?|/proc/sysrq-trigger")
_WIRE = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
_LOOPBACK = re.compile(r"localhost|127\.[\d.]+|::1|\[::1\]|0\.0\.0\.0")


def joined(place: str, word: str) -> str:
    """Absolute and without dots, if it can be known; what is below an unknown place stays so."""
    path = posixpath.normpath(posixpath.join(place, word)) if word else place
    return re.sub(r"^//+", "/", path)


def is_whole_system(path: str) -> bool:
    """The root, a directory of the system, somebody's home, or all that is in one of them."""
    if path.startswith(UNKNOWN):
        return False
    bare = _ALL.sub("", path) or "/"
    return bare in SYSTEM or _HOMES.fullmatch(bare) is not None or _may_match(bare)


def is_kept_by_system(path: str) -> bool:
    """As above, without what people own themselves: for modes and owners."""
    bare = _ALL.sub("", path) or "/"
    return is_whole_system(path) and bare not in _LENT and (_HOMES.fullmatch(bare) is None or bare == "/root")


def is_all_inside(path: str) -> bool:
    """`/etc/*`: no option is needed to delete the files there."""
    return _ALL.search(path) is not None and is_whole_system(path)


def _may_match(pattern: str) -> bool:
    """`/e*` means /etc."""
    if UNKNOWN in pattern or not any(sign in pattern for sign in "*?["):
        return False
    depth = pattern.count("/")
    return any(each.count("/") == depth and each != "/" and fnmatchcase(each, pattern) for each in SYSTEM)


def damage(path: str) -> str:
    """What it means to write on it; empty: nothing special."""
    if _DISK.fullmatch(path):
        return f"it would write on the disk {path}"
    if _MEMORY.fullmatch(path):
        return f"it would write into the memory of the machine, {path}"
    if _VITAL.fullmatch(path):
        return f"it would write to {path}, which decides who may do what on this machine"
    return ""


def is_disk(path: str) -> bool:
    return _DISK.fullmatch(path) is not None


def is_vital(path: str) -> bool:
    return _VITAL.fullmatch(path) is not None


def wire(path: str) -> str:
    """The host of a connection that the shell itself would make, unless it is this machine."""
    found = _WIRE.match(path)
    return "" if found is None or _LOOPBACK.fullmatch(found[1]) else found[1]
