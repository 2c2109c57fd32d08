"""`daimon service` with a living systemd: the unit that is written is run, killed, hung, stopped and removed by the real one."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.living import Living, living
from tests.cli.processes import DEADLINE_S, read_line, wait_until


@pytest.fixture(scope="module")
def machine() -> Iterator[Living]:
    with living() as found:
        yield found


@pytest.fixture
def systemd(machine: Living) -> Iterator[Living]:
    """With nothing installed."""
    yield machine
    machine.daimon("service", "uninstall")
    for drop_in in unit(machine).parent.glob("*.d/*"):
        drop_in.unlink()


def unit(systemd: Living) -> Path:
    return systemd.place / ".config" / "systemd" / "user" / "daimon.service"


def status(systemd: Living) -> Any:
    return json.loads(systemd.daimon("service", "status", "--json").out)


def installed(systemd: Living) -> None:
    done = systemd.daimon("service", "install", "--start")
    assert done.code == 0, done.err


def end(systemd: Living, pid: int, by: signal.Signals) -> None:
    assert systemd.run("kill", f"-{by.value}", str(pid)).code == 0


def is_another(systemd: Living, pid: int) -> bool:
    """A process that has said that it is ready, and is not that one."""
    seen = systemd.run("systemctl", "--user", "show", "--property=MainPID,ActiveState", "daimon").out.split()
    return "ActiveState=active" in seen and not {"MainPID=0", f"MainPID={pid}"} & {*seen}


def test_it_is_installed_started_killed_comes_back_is_stopped_and_goes(systemd: Living) -> None:
    done = systemd.daimon("service", "install")
    assert done.code == 0, done.err
    assert "loginctl enable-linger" in done.err
    assert f"ExecStart={systemd.place}/checkout/daimon up" in unit(systemd).read_text().splitlines()
    assert systemd.run("systemctl", "--user", "is-enabled", "daimon").out == "enabled\n"
    assert systemd.daimon("service", "status").code == 69

    assert systemd.daimon("service", "start", "--json").out == '{"unit":"daimon.service","running":true}\n'
    first = status(systemd)
    assert (first["state"], first["ready"], first["health"], first["restarts"]) == ("active", True, "ready", 0)
    assert first["home"] == str(systemd.place / ".daimon")
    end(systemd, first["pid"], signal.SIGKILL)
    wait_until(lambda: is_another(systemd, first["pid"]))
    second = status(systemd)
    assert (second["ready"], second["restarts"]) == (True, 1)
    assert systemd.daimon("service", "status").code == 0

    assert systemd.daimon("service", "stop").code == 0
    third = status(systemd)
    assert (third["state"], third["answers"], third["ended"]["result"]) == ("inactive", False, "success")
    gone = systemd.daimon("service", "uninstall")
    assert "what stays: the home" in gone.out
    assert not unit(systemd).exists()
    assert (systemd.place / ".daimon" / "journal.db").exists()
    assert systemd.daimon("service", "status").code == 3
    assert systemd.daimon("service", "start").code == 3


def test_a_gateway_that_hangs_is_killed_and_started_anew(systemd: Living) -> None:
    assert systemd.daimon("service", "install").code == 0
    (drop_in := unit(systemd).with_name("daimon.service.d")).mkdir(exist_ok=True)
    (drop_in / "soon.conf").write_text("[Service]\nWatchdogSec=10\n")
    systemd.run("systemctl", "--user", "daemon-reload")
    assert systemd.daimon("service", "start").code == 0
    first = status(systemd)["pid"]
    end(systemd, first, signal.SIGSTOP)
    wait_until(lambda: is_another(systemd, first))
    found = status(systemd)
    assert (found["ready"], found["restarts"] >= 1) == (True, True)


def test_installing_again_changes_nothing_and_with_another_home_says_what_changed(systemd: Living) -> None:
    installed(systemd)
    before = unit(systemd).read_text()
    again = json.loads(systemd.daimon("service", "install", "--json").out)
    assert (again["new"], again["changes"], unit(systemd).read_text()) == (False, [], before)
    other = systemd.place / "another home, 100%"
    moved = systemd.daimon("service", "install", "--home", str(other))
    assert f"X-Daimon.Home: {systemd.place}/.daimon -> {systemd.place}/another home, 100%%" in moved.out
    assert "service restart" in moved.out
    assert systemd.daimon("service", "restart").code == 0
    found = status(systemd)
    assert (found["home"], found["ready"]) == (str(other), True)
    assert (other / "journal.db").exists()


def test_a_wrong_setting_is_told_in_words_and_not_tried_again(systemd: Living) -> None:
    assert systemd.daimon("service", "install").code == 0
    (systemd.place / ".daimon").mkdir(mode=0o700, exist_ok=True)
    os.chown(systemd.place / ".daimon", 12345, 12345)
    (file := systemd.place / ".daimon" / "daimon.toml").write_text("[model]\nuse = 'nosuch'\n")
    try:
        done = systemd.daimon("service", "start")
        assert done.code == 1
        assert "it ended with 78: a setting or the machine is not as it must be" in done.err
        found = status(systemd)
        assert (found["state"], found["ended"]["code"], found["restarts"]) == ("failed", 78, 0)
        assert found["ended"]["meaning"] == "a setting or the machine is not as it must be"
    finally:
        file.unlink()
    assert systemd.daimon("service", "start").code == 0
    assert status(systemd)["ready"]


def test_a_home_that_another_gateway_runs_on_is_refused(systemd: Living) -> None:
    gateway = subprocess.Popen(
        [*systemd._enter, *systemd._drop, str(systemd.place / "checkout" / "daimon"), "up", "--port", "0"],
        env=systemd.environment, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert read_line(gateway).startswith("ready ")
        refused = systemd.daimon("service", "install")
        assert refused.code == 75
        assert "stop it first" in refused.err
        assert not unit(systemd).exists()
    finally:
        children = Path(f"/proc/{gateway.pid}/task/{gateway.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGTERM)
        gateway.communicate(timeout=DEADLINE_S)
    installed(systemd)


def test_a_unit_of_somebody_else_is_not_overwritten_without_a_word(systemd: Living) -> None:
    assert systemd.run("mkdir", "-p", str(unit(systemd).parent)).code == 0
    unit(systemd).write_text("[Service]\nExecStart=/bin/true\n")
    done = systemd.daimon("service", "install")
    assert (done.code, unit(systemd).read_text()) == (4, "[Service]\nExecStart=/bin/true\n")
    assert "--yes replaces it" in done.err
    assert systemd.daimon("service", "install", "--yes").code == 0
