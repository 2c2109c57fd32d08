import json
import signal
import stat
from contextlib import suppress
from http.client import HTTPConnection
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from urllib.parse import urlsplit

import pytest
from tests.cli.processes import Daimon, finish, read_line

from daimon.gateway.server import USUAL_PORT


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_up_prints_one_line_and_ends_well_when_told_to(daimon: Daimon, by: signal.Signals) -> None:
    gateway = daimon.up()

    done = finish(gateway, by)

    assert done.code == 0
    assert done.out == ""  # nothing after the ready line
    assert str(daimon.home) in done.err
    assert "Traceback" not in done.err
    assert not (daimon.home / "daimon.sock").exists()


def test_what_up_prints_answers_on_that_port(daimon: Daimon) -> None:
    gateway = daimon.start("up", "--port", "0")
    word, url = read_line(gateway).split()
    assert word == "ready"

    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()


def test_up_says_the_same_as_json(daimon: Daimon) -> None:
    gateway = daimon.start("up", "--port", "0", "--json")
    assert json.loads(read_line(gateway))["ready"].startswith("http://127.0.0.1:")


def test_where_the_usual_port_is_taken_up_says_so_and_how_to_take_another(daimon: Daimon) -> None:
    with socket() as other:
        other.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)  # a connection of yesterday's does not take it
        with suppress(OSError):  # where it cannot be had, it is taken already
            other.bind(("127.0.0.1", USUAL_PORT))
            other.listen()
        gateway = daimon.start("up")
        port = read_line(gateway).strip().rpartition(":")[2]
        told = finish(gateway, signal.SIGTERM).err
        assert f"port {USUAL_PORT} is taken by another program, so this listens on {port}" in told
        assert "gateway.port" in told
    chosen = daimon.up()
    assert "is taken" not in finish(chosen, signal.SIGTERM).err


def test_a_second_gateway_on_one_home_is_told_who_holds_it(daimon: Daimon) -> None:
    gateway = daimon.up()

    second = daimon.run("up", "--port", "0")

    assert second.code == 75
    assert second.out == ""
    assert str(gateway.pid) in second.err
    assert len(second.err.splitlines()) == 1


def test_all_that_up_makes_is_for_its_owner_only(daimon: Daimon) -> None:
    daimon.up()
    made = [daimon.home, *daimon.home.iterdir()]
    assert [path.name for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_a_home_may_be_named_by_the_environment_and_beaten_by_the_option(daimon: Daimon) -> None:
    daimon.environment["DAIMON_HOME"] = "/nowhere"
    assert daimon.run("config", "--path").out.strip() == str(daimon.home / "daimon.toml")
    assert daimon.run("config", "--path", "--home", "/elsewhere").out.strip() == "/elsewhere/daimon.toml"


def test_a_journal_that_is_no_journal_ends_up_with_a_sentence(daimon: Daimon) -> None:
    daimon.home.mkdir(mode=0o700)
    (daimon.home / "journal.db").write_bytes(b"this is no database, and long enough to be sure" * 100)

    done = daimon.run("up", "--port", "0")

    assert done.code == 65
    assert "journal.db" in done.err
    assert "Traceback" not in done.err


def test_a_model_that_does_not_exist_ends_up_with_the_names_of_those_that_do(daimon: Daimon) -> None:
    daimon.configure('[model]\nuse = "nosuch"\n')

    done = daimon.run("up", "--port", "0")

    assert done.code == 78
    assert "reflex" in done.err
