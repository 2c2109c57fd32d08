"""The user that a gateway runs as: real switches of a real process, and a real useradd on a copy of /etc that only its processes see."""

import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, Done, finish, read_line
from tests.cli.pseudo import Terminal
from tests.machine.ordinary import UID, directory_of, environment, only_root, python

NOBODY = pwd.getpwnam("nobody")
needs_a_copy_of_etc = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("useradd"), reason="needs root, unshare and useradd"
)
# What stands under /etc and /var/lib is this process's own, so that nothing of the machine is changed.
OWN_ETC = 'mount --bind "$SCRATCH/etc" /etc && mount --bind "$SCRATCH/lib" /var/lib && '


def facts_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: " ".join(value.split()) for name, _, value in (line.partition(":") for line in lines)}


def command(interpreter: str, *words: str) -> list[str]:
    return [interpreter, "-P", "-m", "daimon", *words]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """With /etc as useradd knows it, and an empty /var/lib."""
    with directory_of(0) as place:
        (place / "etc").mkdir()
        (place / "lib").mkdir()
        for name in ("passwd", "group", "shadow", "gshadow", "login.defs", "nsswitch.conf", "subuid", "subgid"):
            if Path("/etc", name).exists():
                shutil.copy2(Path("/etc", name), place / "etc" / name)
        yield place


def apart(scratch: Path, script: str, interpreter: str = sys.executable) -> Done:
    """A script whose /etc and /var/lib are the scratch ones; $DAIMON is the command line."""
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-ec", OWN_ETC + script],
        env=environment(SCRATCH=str(scratch), DAIMON=" ".join(command(interpreter))),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


# -- becoming another user


@only_root
def test_root_becomes_the_user_for_good() -> None:
    interpreter = python()
    with directory_of(NOBODY.pw_uid) as place:
        gateway = subprocess.Popen(
            command(interpreter, "up", "--as", "nobody", "--port", "0", "--home", str(place / "home")),
            env=environment(SUDO_USER="somebody", XDG_RUNTIME_DIR="/run/user/0"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert read_line(gateway).startswith("ready ")
            found = facts_of(gateway.pid)
            assert found["Uid"].split() == [str(NOBODY.pw_uid)] * 4
            assert found["Gid"].split() == [str(NOBODY.pw_gid)] * 4
            assert "0" not in found["Groups"].split()
            assert {int(found[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
            assert (place / "home" / "journal.db").stat().st_uid == NOBODY.pw_uid
            seen = subprocess.run(
                command(interpreter, "status", "--json", "--home", str(place / "home")),
                env=environment(), capture_output=True, timeout=DEADLINE_S, check=True,
            )  # fmt: skip
            assert json.loads(seen.stdout)["warnings"] == []
        finally:
            done = finish(gateway, signal.SIGTERM)
    assert done.code == 0
    assert "runs as root" not in done.err


@needs_a_copy_of_etc
def test_the_user_is_made_once_and_its_home_is_where_up_puts_things(scratch: Path) -> None:
    interpreter = python()
    script = """
        $DAIMON service user --yes; $DAIMON service user --json; stat -c '%U %a' /var/lib/daimon
        SUDO_UID=0 XDG_CONFIG_HOME=/root $DAIMON up --as daimon --port 0 & gateway=$!
        until [ -S /var/lib/daimon/.daimon/daimon.sock ] || ! kill -0 $gateway; do sleep 0.05; done
        kill $gateway; wait $gateway; stat -c '%U %a' /var/lib/daimon/.daimon /var/lib/daimon/.daimon/token
    """
    done = apart(scratch, script, interpreter)
    assert done.code == 0, done.err
    assert "this will run: useradd --system --create-home --home-dir /var/lib/daimon --shell /usr/sbin/nologin daimon" in done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("user daimon (")
    assert lines[0].endswith("was made; its home is /var/lib/daimon")
    assert lines[2].strip() == "daimon up --as daimon"
    again = json.loads(lines[3])
    assert (again["user"], again["home"], again["made"]) == ("daimon", "/var/lib/daimon", False)
    assert lines[4] == "daimon 700"
    assert lines[-2:] == ["daimon 700", "daimon 600"]
    known = (scratch / "etc" / "passwd").read_text().splitlines()
    assert next(line for line in known if line.startswith("daimon:")).endswith(":/usr/sbin/nologin")


@needs_a_copy_of_etc
def test_nothing_is_made_where_nobody_can_be_asked(scratch: Path) -> None:
    done = apart(scratch, "$DAIMON service user")
    assert done.code == 78
    assert "--yes" in done.err
    assert "daimon:" not in (scratch / "etc" / "passwd").read_text()


@needs_a_copy_of_etc
@pytest.mark.parametrize("name", ["-rf", "Root", "a b", "9lives", ""])
def test_a_name_that_is_no_name_is_refused(scratch: Path, name: str) -> None:
    done = apart(scratch, f"$DAIMON service user --yes --name='{name}'")
    assert done.code == 4
    assert "is not a name for a user" in done.err


@only_root
def test_an_ordinary_user_is_told_to_ask_root() -> None:
    done = subprocess.run(
        command(python(), "service", "user", "--name", "daimon-of-nobody"),
        env=environment(), user=UID, group=UID, extra_groups=[], cwd="/", capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 78
    assert "daimon service user --name daimon-of-nobody" in done.stderr


# -- what is refused, and with what remedy


@only_root
def test_a_home_of_root_is_not_taken_over_but_the_command_is_named() -> None:
    with directory_of(0) as place:
        (home := place / "home").mkdir(mode=0o700)
        done = subprocess.run(
            command(python(), "up", "--as", "nobody", "--home", str(home)),
            env=environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 78
        assert f"chown -R nobody: {home}" in done.stderr
        assert list(home.iterdir()) == []


@only_root
def test_files_of_root_in_a_home_of_the_user_are_named() -> None:
    with directory_of(NOBODY.pw_uid) as place:
        (place / "journal.db").touch()
        done = subprocess.run(
            command(python(), "up", "--as", "nobody", "--home", str(place)),
            env=environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 78
        assert f"{place}/journal.db belongs to user 0" in done.stderr


@only_root
def test_modules_that_the_user_cannot_read_are_named_before_the_switch() -> None:
    with directory_of(0) as place, directory_of(NOBODY.pw_uid) as home:
        (closed := place / "closed").mkdir(mode=0o700)
        (closed / "modules").mkdir()
        known = environment()
        done = subprocess.run(
            command(python(), "up", "--as", "nobody", "--home", str(home / "home")),
            env={**known, "PYTHONPATH": f"{known['PYTHONPATH']}:{closed / 'modules'}"},
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 78
        assert f"cannot read {closed}," in done.stderr
        assert "/opt/daimon" in done.stderr
        assert not (home / "home").exists()


@only_root
def test_a_way_to_the_home_that_is_closed_is_named() -> None:
    with directory_of(0) as place:
        (home := place / "closed" / "home").mkdir(parents=True)
        os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
        home.parent.chmod(0o700)
        done = subprocess.run(
            command(python(), "up", "--as", "nobody", "--home", str(home)),
            env=environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 78
        assert f"cannot enter {home.parent}, on the way to the home {home}" in done.stderr


@only_root
@pytest.mark.parametrize(("name", "says"), [("root", "root itself"), ("no-such-user", "service user --name no-such-user")])
def test_a_user_that_will_not_do_is_refused(daimon: Daimon, name: str, says: str) -> None:
    done = daimon.run("up", "--as", name)
    assert done.code == 78
    assert says in done.err


@only_root
def test_an_ordinary_user_may_name_itself_but_nobody_else() -> None:
    interpreter = python()
    with directory_of(NOBODY.pw_uid) as place:
        start = command(interpreter, "up", "--port", "0", "--as", "nobody", "--home")
        gateway = subprocess.Popen(
            [*start, str(place / "home")], env=environment(), user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[], cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert read_line(gateway).startswith("ready ")
        finally:
            finish(gateway, signal.SIGTERM)
        other = subprocess.run(
            [*start, str(place / "other")], env=environment(), user=UID, group=UID, extra_groups=[], cwd="/",
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    assert other.returncode == 78
    assert "only root can start as another user" in other.stderr


# -- root is told


@only_root
def test_root_is_warned_in_one_line_and_in_the_status(daimon: Daimon) -> None:
    gateway = daimon.up()
    warnings = json.loads(daimon.run("status", "--json").out)["warnings"]
    done = finish(gateway, signal.SIGTERM)
    told = [line for line in done.err.splitlines() if "as root" in line]
    assert told == warnings
    assert len(told) == 1
    assert "up --as USER" in told[0]


@only_root
def test_on_a_terminal_the_commands_that_do_better_are_shown_and_nothing_waits(daimon: Daimon) -> None:
    terminal = Terminal(daimon, "up", "--port", "0")
    try:
        terminal.wait_for("ready http://")
        terminal.wait_for("to run it as a user of its own instead")
        terminal.wait_for("daimon up --as daimon")
    finally:
        terminal.close()


@only_root
def test_on_a_terminal_the_user_is_made_only_after_a_yes(daimon: Daimon) -> None:
    terminal = Terminal(daimon, "service", "user", "--name", "daimon-of-nobody")
    try:
        terminal.wait_for("useradd --system --create-home --home-dir /var/lib/daimon-of-nobody")
        terminal.wait_for("go on? [y/N] ")
        terminal.type(b"n\r")
        terminal.wait_for("nothing was done")
        assert terminal.process.wait(DEADLINE_S) == 4
    finally:
        terminal.close()
    with pytest.raises(KeyError):
        pwd.getpwnam("daimon-of-nobody")


# -- what a whole gateway holds


@only_root
def test_neighbours_of_the_same_user_cannot_read_a_gateway_and_it_dumps_no_core() -> None:
    interpreter = python()
    with directory_of(UID) as place:
        gateway = subprocess.Popen(
            command(interpreter, "up", "--port", "0", "--home", str(place / "home")),
            env=environment(), user=UID, group=UID, extra_groups=[], cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert read_line(gateway).startswith("ready ")
            limits = Path(f"/proc/{gateway.pid}/limits").read_text()
            for file in ("mem", "environ", "maps"):
                seen = subprocess.run(
                    ["cat", f"/proc/{gateway.pid}/{file}"],
                    user=UID, group=UID, extra_groups=[], cwd="/", capture_output=True, text=True, timeout=DEADLINE_S, check=False,
                )  # fmt: skip
                assert "Permission denied" in seen.stderr
        finally:
            finish(gateway, signal.SIGTERM)
    assert next(line for line in limits.splitlines() if line.startswith("Max core file size")).split()[4:6] == ["0", "0"]


def test_all_files_of_a_gateway_that_has_worked_are_its_owner_s_alone_whatever_the_umask(daimon: Daimon) -> None:
    before = os.umask(0o022)
    try:
        gateway = daimon.up()
        assert daimon.run("chat", "remember that the key is under the mat").code == 0
        assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}\nnot an event\n').code == 4
        daimon.run("policy", "test")
        while_running = loose(daimon.home)
        made = {path.name for path in daimon.home.rglob("*")}
        finish(gateway, signal.SIGTERM)
        assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
        assert daimon.run("chat", "hello again").code == 0
    finally:
        os.umask(before)
    assert {"journal.db", "journal.db-wal", "journal.db-shm", "memory.db", "token", "daimon.sock", "lock"} <= made
    assert (while_running, loose(daimon.home)) == ({}, {})


def loose(home: Path) -> dict[str, str]:
    """What is not 0600, for directories 0700."""
    modes = {path: path.lstat().st_mode for path in (home, *home.rglob("*"))}
    wanted = {path: 0o700 if stat.S_ISDIR(mode) else 0o600 for path, mode in modes.items()}
    return {str(path): oct(stat.S_IMODE(mode)) for path, mode in modes.items() if stat.S_IMODE(mode) != wanted[path]}
