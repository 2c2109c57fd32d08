"""`daimon service` by root: a unit of the machine and a user of its own, on copies of /etc, /opt and /var/lib of their own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.living import make_checkout
from tests.cli.processes import DEADLINE_S, Daimon, Done
from tests.machine.ordinary import directory_of, environment, only_root, python

HERE = Path(__file__).parent
OWN = 'for d in etc opt var/lib; do mount --bind "$SCRATCH/$d" "/$d"; done\n'
UNIT = "etc/systemd/system/daimon.service"
KNOWN = ("passwd", "group", "shadow", "gshadow", "login.defs", "nsswitch.conf", "subuid", "subgid")


class Machine:
    def __init__(self, place: Path) -> None:
        self.place = place

    def run(self, script: str) -> Done:
        """`$DAIMON` is the bootstrap of a checkout in /opt."""
        programs = f"{self.place / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-ec", OWN + script],
            env=environment(SCRATCH=str(self.place), PATH=programs, DAIMON="/opt/daimon/daimon", DAIMON_CHECKOUT="/opt/daimon",
                            SYSTEMCTL_STATE=str(self.place / "state.json")),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    @property
    def calls(self) -> list[str]:
        asked = json.loads((self.place / "state.json").read_text())["calls"]
        return [call for call in asked if not call.startswith("show")]


@pytest.fixture
def machine() -> Iterator[Machine]:
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("useradd"):
        pytest.skip("needs root, unshare and useradd")
    interpreter = python()
    with directory_of(0) as place:
        for name in ("etc/systemd/system", "opt", "var/lib", "bin"):
            (place / name).mkdir(parents=True)
        for name in KNOWN:
            if Path("/etc", name).exists():
                shutil.copy2(Path("/etc", name), place / "etc" / name)
        make_checkout(place / "opt" / "daimon", interpreter)
        (place / "bin" / "systemctl").write_text(f'#!/bin/sh\nexec {sys.executable} -I {HERE / "systemctl.py"} "$@"\n')
        (place / "bin" / "journalctl").write_text('#!/bin/sh\necho "$@"\n')
        for program in (place / "bin").iterdir():
            program.chmod(0o755)
        yield Machine(place)


def test_root_gets_a_user_of_its_own_and_a_unit_that_runs_as_that_user(machine: Machine) -> None:
    done = machine.run("$DAIMON service install --yes --start --json; stat -c %U /var/lib/daimon")
    assert done.code == 0, done.err
    assert "this will run: useradd --system --create-home --home-dir /var/lib/daimon" in done.err
    said, owner = done.out.splitlines()
    found = json.loads(said)
    assert (found["new"], found["user"], found["home"], found["started"]) == (True, "daimon", "/var/lib/daimon/.daimon", True)
    assert owner == "daimon"
    unit = (machine.place / UNIT).read_text().splitlines()
    assert {"User=daimon", "StateDirectory=daimon", "ExecStart=/opt/daimon/daimon up", "ProtectHome=yes"} <= {*unit}
    assert (machine.place / UNIT).stat().st_mode & 0o777 == 0o644
    assert machine.calls == ["daemon-reload", "enable daimon.service", "start daimon.service"]


def test_a_state_of_roots_own_is_named_with_the_commands_that_move_it(machine: Machine) -> None:
    alone = machine.run("export HOME=$SCRATCH/root; $DAIMON service install --yes")
    assert alone.code == 0, alone.err
    assert "cp -a" not in alone.err
    done = machine.run("export HOME=$SCRATCH/root; mkdir -p $HOME/.daimon; touch $HOME/.daimon/journal.db; $DAIMON service install --yes")
    assert done.code == 0, done.err
    assert "its home is /var/lib/daimon/.daimon" in done.err
    command = next(line for line in done.err.splitlines() if "cp -a" in line).split(";")[1]
    moved = machine.run(f"{command}; stat -c %U /var/lib/daimon/.daimon/journal.db")
    assert moved.out.strip() == "daimon", moved.err


def test_a_printed_unit_whose_program_its_user_will_not_see_comes_with_a_warning(machine: Machine) -> None:
    assert machine.run("$DAIMON service install --print").err == ""
    place = "mount -t tmpfs tmpfs /home; mkdir /home/daimon; touch /home/daimon/daimon; "
    done = machine.run(place + "DAIMON_CHECKOUT=/home/daimon $DAIMON service install --print")
    assert done.code == 0
    assert "ExecStart=/home/daimon/daimon up" in done.out
    assert "ExecStart is /home/daimon/daimon" in done.err


def test_without_a_yes_nothing_is_made(machine: Machine) -> None:
    done = machine.run("$DAIMON service install")
    assert done.code == 78
    assert "--yes" in done.err
    assert not (machine.place / UNIT).exists()
    assert "daimon:" not in (machine.place / "etc" / "passwd").read_text()


def test_a_checkout_that_the_user_cannot_read_is_refused_before_a_unit_is_written(machine: Machine) -> None:
    done = machine.run("$DAIMON service user --yes; chmod 700 /opt/daimon; $DAIMON service install")
    assert done.code == 78
    assert "cannot read /opt/daimon" in done.err
    assert not (machine.place / UNIT).exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [("--home /tmp/somewhere", "sees a directory of its own"), ("--as root", "not run by root"), ("--unit 'a b'", "no name for a unit")],
)
def test_what_cannot_run_is_refused_with_the_reason(machine: Machine, more: str, says: str) -> None:
    done = machine.run(f"$DAIMON service user --yes; $DAIMON service install {more}")
    assert done.code in (4, 78)
    assert says in done.err
    assert not list((machine.place / UNIT).parent.iterdir())


def test_a_home_of_root_is_refused_with_the_command_that_hands_it_over(machine: Machine) -> None:
    done = machine.run("$DAIMON service user --yes; mkdir /opt/home; $DAIMON service install --home /opt/home")
    assert done.code == 78
    assert "chown -R daimon: /opt/home" in done.err


def test_uninstalling_stops_it_and_says_what_stays(machine: Machine) -> None:
    done = machine.run("$DAIMON service install --yes --start; $DAIMON service uninstall; $DAIMON service uninstall")
    assert done.code == 3  # the second time
    assert "what stays: the home /var/lib/daimon/.daimon and the user daimon" in done.out
    assert not (machine.place / UNIT).exists()
    assert machine.calls[-2:] == ["disable --now daimon.service", "daemon-reload"]
    assert (machine.place / "var/lib/daimon").is_dir()


def test_the_journal_of_that_unit_is_shown(machine: Machine) -> None:
    done = machine.run(
        "$DAIMON service install --yes > $SCRATCH/out; $DAIMON service logs -n 5 --since today -f; $DAIMON service logs --json"
    )
    assert done.out.splitlines() == [
        "--unit=daimon.service --lines=5 --since=today --follow --no-pager",
        "--unit=daimon.service --lines=100 --output=json --no-pager",
    ]


@only_root
def test_where_no_systemd_runs_it_says_what_to_use_instead_and_still_prints(daimon: Daimon) -> None:
    if Path("/run/systemd/system").exists():
        pytest.skip("a systemd runs here")
    refused = daimon.run("service", "install", "--yes")
    assert refused.code == 78
    assert "no systemd runs here" in refused.err
    assert "docs/container.md" in refused.err
    for words in (("status",), ("logs",), ("logs", "-f")):
        assert daimon.run("service", *words).err == refused.err
    shown = daimon.run("service", "install", "--print")
    assert shown.code == 0
    assert f'"{daimon.home}"' in shown.out or f"--home {daimon.home} up" in shown.out
    assert json.loads(daimon.run("service", "install", "--print", "--json").out)["text"] == shown.out
