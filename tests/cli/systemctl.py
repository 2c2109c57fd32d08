"""A stand-in for `systemctl` of the machine, where no systemd is PID 1: it keeps units in a file and does to them what the real one does.

It reads the unit file as systemd would find it, refuses what is not there, and writes each call down. It starts nothing: what a unit
does when it runs is tested with a living systemd of a user.
"""

import json
import os
import sys
from pathlib import Path

UNITS = Path("/etc/systemd/system")
STATE = Path(os.environ["SYSTEMCTL_STATE"])


def main(words: list[str]) -> int:
    state = json.loads(STATE.read_text()) if STATE.exists() else {"calls": [], "active": [], "failed": [], "enabled": []}
    words = [word for word in words if word not in ("--no-ask-password", "--quiet")]
    state["calls"].append(" ".join(words))
    code = answer(state, words[0], words[1:])
    STATE.write_text(json.dumps(state))
    return code


def answer(state: dict[str, list[str]], verb: str, rest: list[str]) -> int:
    if verb == "show" and "--property=Version" in rest:
        sys.stdout.write("252 (a stand-in)\n")
        return 0
    if verb == "daemon-reload":
        return 0
    unit = rest[-1]
    is_there = (UNITS / unit).exists()
    if verb == "show":
        is_active = unit in state["active"]
        found = {
            "LoadState": "loaded" if is_there else "not-found",
            "ActiveState": "active" if is_active else "inactive",
            "SubState": "running" if is_active else "dead",
            "UnitFileState": "enabled" if unit in state["enabled"] else "disabled",
            **dict.fromkeys(("MainPID", "NRestarts", "ExecMainCode", "ExecMainStatus"), "0"),
            "StateChangeTimestamp": "Mon 2026-11-16 05:45:27 UTC",
        }
        sys.stdout.write("".join(f"{name}={value}\n" for name, value in found.items()))
        return 0
    if not is_there:
        sys.stderr.write(f"Failed to {verb} unit: Unit file {unit} does not exist.\n")
        return 1
    change(state, verb, unit, is_now="--now" in rest)
    return 0


def change(state: dict[str, list[str]], verb: str, unit: str, *, is_now: bool) -> None:
    if verb == "enable":
        state["enabled"] = sorted({*state["enabled"], unit})
    if verb == "disable":
        state["enabled"] = [other for other in state["enabled"] if other != unit]
    if verb in ("start", "restart"):
        state["active"] = sorted({*state["active"], unit})
    if verb == "stop" or (verb == "disable" and is_now):
        state["active"] = [other for other in state["active"] if other != unit]


sys.exit(main(sys.argv[1:]))
