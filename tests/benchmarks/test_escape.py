"""The benchmark of the box counts right, and can say yes: without a box its attacks come through."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import escape
import pytest
from lab.escape.catalogue import FAMILIES

SCRIPT = Path(escape.__file__)
CHEAP = ("read a file of the owner's home", "TCP to the host's loopback", "unshare: user")


def said(**row: bool) -> dict[str, object]:
    return {"attacks": [{"family": "files", "name": "read", **row}], "utility": {"git": True}}


def test_an_escape_of_either_user_counts_once() -> None:
    fields = escape.summed({"root": said(control=True, escaped=True), "user": said(control=False, escaped=True)})
    assert (fields["attacks"], fields["control_succeeded"], fields["escaped"]) == (1, 1, 1)
    assert (fields["escaped_root"], fields["escaped_user"], fields["utility_passed"], fields["utility_total"]) == (1, 1, 2, 2)


def test_an_attack_without_a_control_that_succeeds_is_named_and_one_that_the_kernel_lacks_is_not_counted() -> None:
    fields = escape.summed({"root": said(control=False), "user": said(control=False)})
    assert (fields["control_succeeded"], fields["names_without_control"]) == (0, ["files: read"])
    absent = escape.summed({"root": said(is_absent=True)})
    assert (absent["attacks"], absent["not_here"]) == (0, ["files: read"])


def test_there_are_many_attacks_and_no_two_of_a_family_share_a_name() -> None:
    names = [(family, attack.name) for family, attacks in FAMILIES.items() for attack in attacks]
    assert len(names) == len(set(names)) > 200


@pytest.mark.parametrize("user", ["root", "user"])
def test_attacks_come_through_without_the_box_and_not_with_it(user: str) -> None:
    if os.getuid() != 0 or not shutil.which("bwrap") or not _can_make_machines():
        pytest.skip("only root with bwrap, where namespaces may be made, can play attacks")
    only = [word for name in CHEAP for word in ("--only", name)]
    command = [sys.executable, str(SCRIPT), "--json", "--no-utility", "--user", user, *only]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    fields = json.loads(ended.stdout.splitlines()[-1])
    assert (fields["attacks"], fields["control_succeeded"], fields["escaped"]) == (3, 3, 0)


def _can_make_machines() -> bool:
    probe = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "x", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(probe, capture_output=True, check=False).returncode == 0
