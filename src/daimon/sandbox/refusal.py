"""Why no box could be made, and exactly what to do about it."""

import errno
from pathlib import Path

_PROC = Path("/proc/sys")
APPARMOR = """\
AppArmor forbids user namespaces to ordinary users here. Daimon needs them for the holder of a box, which is this Python, and for bwrap:
    sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
(and the same line in /etc/sysctl.d/60-daimon.conf, so that it lasts)"""


def explained(number: int, text: str) -> str:
    said = text.strip() or "no reason was given"
    return f"no box can be made, and nothing runs without one: {said}. {remedy(number, said)}".rstrip()


def remedy(number: int, text: str) -> str:
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return APPARMOR
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "User namespaces are switched off: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if _setting("user/max_user_namespaces") == "0":
        return "User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000"
    if number == errno.ENOSYS:
        return "This kernel is too old: Linux 5.13 or newer is needed."
    if number in (errno.EPERM, errno.EACCES) and Path("/.dockerenv").exists():
        return "A container's default profile forbids user namespaces: docs/container.md says which security_opt to give."
    if number == errno.ENOSPC and "namespace" in text:
        return "There are too many user namespaces: sudo sysctl -w user.max_user_namespaces=15000"
    return "`daimon sandbox doctor` shows what this machine allows."


def _setting(name: str) -> str:
    try:
        return (_PROC / name).read_text().strip()
    except OSError:
        return ""
