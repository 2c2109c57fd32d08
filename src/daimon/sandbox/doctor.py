"""What holds a box on this machine: found by making one and looking from inside, not by reading settings."""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.box import Command, Limits, Role
from daimon.abi.errors import DaimonError
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.plan import UID, Wanted
from daimon.sandbox.watch import INTERVAL_S

NAMESPACES = ("user", "mnt", "pid", "ipc", "uts", "cgroup", "net")
LOOK = """
for n in user mnt pid ipc uts cgroup net; do echo "ns-$n $(readlink /proc/self/ns/$n)"; done
sed -n 's/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):\\s*/\\1 /p' /proc/self/status
(echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && echo "core open" || echo "core closed"
unshare -U true 2>/dev/null && echo "nested open" || echo "nested closed"
echo "network $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n')"
echo "uid $(id -u)"
touch made && echo "workspace open" || echo "workspace closed"
for p in /root/.ssh /home/*/.ssh /etc/shadow /sys/kernel /var/run/docker.sock; do [ -r "$p" ] && echo "seen $p"; done
exit 0
"""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    is_ok: bool
    says: str


async def examine(workspace: Path) -> tuple[Check, ...]:
    """Makes a box on an empty directory and looks. Never raises for what is wrong with the machine: that is the answer."""
    machine = _machine()
    try:
        box = await start(Wanted(Role(name="doctor", write=(".",), limits=Limits(memory_mb=256)), workspace, {}))
    except DaimonError as refused:
        return (*machine, Check("box", False, str(refused)))
    try:
        ran = await box.run(Command(argv=("/bin/sh", "-c", LOOK), timeout_s=20))
        seen = [line.split(" ", 1) for line in ran.out.head.decode(errors="replace").splitlines()]
        return (*machine, Check("box", ran.code == 0, "one was made, and a command ran in it"), *_inside(dict(_pairs(seen))), *_holds(box))
    except DaimonError as lost:
        return (*machine, Check("box", False, str(lost)))
    finally:
        await box.close()


def _pairs(lines: list[list[str]]) -> list[tuple[str, str]]:
    return [(line[0], line[1] if len(line) > 1 else "") for line in lines]


def _machine() -> tuple[Check, ...]:
    bwrap = shutil.which("bwrap")
    version = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False).stdout.strip() if bwrap else ""
    root = os.getuid() == 0
    user = f"started by root: a box becomes user {UID} first" if root else f"an ordinary user ({os.getuid()})"
    return (
        Check("kernel", True, f"Linux {platform.release()} on {platform.machine()}"),
        Check("bwrap", bool(bwrap), f"{bwrap}, {version}" if bwrap else "missing: install the package `bubblewrap`"),
        Check("user", True, user),
    )


def _inside(seen: dict[str, str]) -> list[Check]:
    own = [name for name in NAMESPACES if seen.get(f"ns-{name}") not in (None, "", os.readlink(f"/proc/self/ns/{name}"))]
    bare = int(seen.get("CapEff", "1"), 16) == 0 == int(seen.get("CapBnd", "1"), 16)
    return [
        Check("namespaces", len(own) == len(NAMESPACES), f"its own: {', '.join(own)}"),
        Check("capabilities", bare, "none" if bare else "some are left"),
        Check("no new privileges", seen.get("NoNewPrivs") == "1", "set" if seen.get("NoNewPrivs") == "1" else "not set"),
        Check("nested user namespaces", seen.get("nested") == "closed", seen.get("nested", "unknown")),
        Check("kernel settings", seen.get("core") == "closed", f"core_pattern is {seen.get('core', 'unknown')}"),
        Check("network", seen.get("network") == "lo", f"interfaces: {seen.get('network', 'unknown')}"),
        Check("workspace", seen.get("workspace") == "open", "it can be written"),
        Check("the owner's files", "seen" not in seen, seen.get("seen", "none is to be seen")),
    ]


def _holds(box: RunningBox) -> list[Check]:
    force = box.force
    names = force.limits.get("controllers", ())
    groups = f"control groups, version {force.limits.get('version')}: {', '.join(names)}"
    bare = f"resource limits for each process, and a watcher every {INTERVAL_S * 1000:g} ms for memory and disk ({force.why_no_groups})"
    return [
        Check("system calls", True, f"an allowlist of {force.filter_instructions} instructions"),
        Check("landlock", force.landlock > 0, f"version {force.landlock}" if force.landlock else "this kernel has none"),
        Check("limits", True, f"{groups}; disk by a watcher" if force.limits else bare),
    ]
