"""`daimon sandbox …` as somebody types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S, Daimon
from tests.sandbox.boxes import NOBODY, elsewhere, needs_bwrap, needs_root, place_of

pytestmark = needs_bwrap


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def in_box(daimon: Daimon, work: Path, line: str, *options: str, given: bytes = b"") -> tuple[int, str, str]:
    done = daimon.run("sandbox", "run", "--workspace", str(work), *options, "--", "sh", "-c", line, given=given)
    return done.code, done.out, done.err


def test_a_command_speaks_through_its_own_streams_and_exit_code(daimon: Daimon, work: Path) -> None:
    assert in_box(daimon, work, "cat; echo bad >&2; exit 4", given=b"piped\n") == (4, "piped\n", "bad\n")
    assert in_box(daimon, work, "pwd; touch made") == (0, "/workspace/work\n", "")
    assert (work / "made").exists()


def test_a_program_that_is_not_there_is_127(daimon: Daimon, work: Path) -> None:
    done = daimon.run("sandbox", "run", "--workspace", str(work), "--", "no-such-program")
    assert (done.code, done.err) == (127, "no-such-program: No such file or directory\n")


@pytest.mark.parametrize(
    ("options", "says"), [(("--role", "chief"), "there is no role 'chief'"), (("--workspace", "/etc"), "belongs to the system")]
)
def test_where_no_box_can_be_made_it_is_125(daimon: Daimon, work: Path, options: tuple[str, ...], says: str) -> None:
    code, out, err = in_box(daimon, work, "echo ran", *options)
    assert (code, out) == (125, "")
    assert says in err


def test_what_was_set_aside_and_what_was_refused_is_said(daimon: Daimon, work: Path) -> None:
    code, _, err = in_box(daimon, work, "echo x > .envrc; curl -s -m 20 http://other.test/; true", "--allow-host", "open.test")
    assert code == 0
    assert "set aside, since it would run by itself: .envrc" in err
    assert "other.test:80 refused" in err


def test_whoever_stops_listening_stops_the_command(daimon: Daimon, work: Path) -> None:
    words = daimon.command("sandbox", "run", "--workspace", str(work), "--", "yes")
    running = subprocess.Popen(words, env=daimon.environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.read(2) == b"y\n"
    running.stdout.close()
    _, err = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 141
    assert b"Traceback" not in err


def test_the_roles_are_listed(daimon: Daimon) -> None:
    names = [role["name"] for role in json.loads(daimon.run("sandbox", "roles", "--json").out)["roles"]]
    assert names == ["analyst", "deployer", "refactorer", "worker"]


def test_the_doctor_finds_a_box_that_holds(daimon: Daimon) -> None:
    done = daimon.run("sandbox", "doctor", "--json")
    found = json.loads(done.out)
    assert (done.code, found["ok"]) == (0, True), found
    assert {"kernel", "bwrap", "box", "namespaces", "capabilities", "network", "system calls", "limits"} <= {
        c["name"] for c in found["checks"]
    }


@needs_root
def test_the_doctor_is_content_with_an_ordinary_user_too() -> None:
    with place_of(NOBODY) as place:
        done = elsewhere([sys.executable, "-P", "-m", "daimon", "sandbox", "doctor", "--json"], {"HOME": str(place)}, uid=NOBODY)
    assert json.loads(done.stdout)["ok"], done.stdout


@needs_root
def test_where_namespaces_are_forbidden_it_is_125_with_the_remedy_and_the_doctor_says_no() -> None:
    with place_of(NOBODY) as place:
        words = [sys.executable, "-P", "-m", "daimon", "sandbox"]
        there = {"uid": NOBODY, "no_namespaces": True}
        ran = elsewhere([*words, "run", "--workspace", str(place), "--", "true"], {"HOME": "/nonexistent"}, **there)
        doctor = elsewhere([*words, "doctor", "--json"], {"HOME": str(place)}, **there)
    assert ran.returncode == 125
    assert b"sysctl -w user.max_user_namespaces" in b" ".join(ran.stderr.split())
    assert doctor.returncode == 1
    assert not json.loads(doctor.stdout)["ok"]
    assert os.getuid() == 0
