import json
import subprocess
import sys

import pytest
from tests.machine.ordinary import DEADLINE_S, environment

from daimon.abi.errors import BadInput
from daimon.machine import user

ADOPT = """
import json, os
from pathlib import Path
from daimon.machine.user import User, adopt_environment
adopt_environment(User("daimon", 990, 990, Path("/var/lib/daimon")))
print(json.dumps([dict(os.environ), str(Path.home())]))
"""
OF_ROOT = {
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "MAIL": "/var/mail/root",
    "SUDO_UID": "1000",
    "XDG_RUNTIME_DIR": "/run/user/0",
    "SSH_AUTH_SOCK": "/run/agent",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/0/bus",
}


def test_the_environment_is_the_user_s_and_what_is_not_about_users_stays() -> None:
    command = [sys.executable, "-P", "-c", ADOPT]
    done = subprocess.run(
        command, env=environment(**OF_ROOT, LANG="C.UTF-8", DAIMON_JSON="1"), capture_output=True, timeout=DEADLINE_S, check=True
    )
    left, home = json.loads(done.stdout)
    assert home == "/var/lib/daimon"
    assert {name: left.get(name) for name in OF_ROOT} == {
        **dict.fromkeys(OF_ROOT),
        "HOME": "/var/lib/daimon",
        "USER": "daimon",
        "LOGNAME": "daimon",
    }
    assert (left["LANG"], left["DAIMON_JSON"]) == ("C.UTF-8", "1")


def test_a_user_who_is_not_there_is_not_found() -> None:
    assert user.find("no-such-user") is None


@pytest.mark.parametrize("name", ["daimon", "_daimon", "daimon-2"])
def test_the_command_that_makes_a_user_gives_it_no_shell_and_a_home_of_its_own(name: str) -> None:
    command = user.creation(name)
    assert command[-1] == name
    assert "/usr/sbin/nologin" in command
    assert f"/var/lib/{name}" in command


@pytest.mark.parametrize("name", ["--root=/", "", "a/b", "ROOT", "a" * 32])
def test_what_is_no_name_becomes_no_command(name: str) -> None:
    with pytest.raises(BadInput):
        user.creation(name)
