"""A real gateway under a service manager that listens, and its end while it works."""

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cli.processes import Daimon, finish, wait_until

from daimon.gateway import unix

DEADLINE_S = 60.0


class Ear:
    """What a service manager would hear."""

    def __init__(self, path: Path) -> None:
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.bind(str(path))
        self._line.settimeout(DEADLINE_S)

    def next(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self._line.recv(65_536).decode().split("\n"))

    def next_but_beats(self) -> dict[str, str]:
        while (told := self.next()) == {"WATCHDOG": "1"}:
            pass
        return told

    def wait_for_silence(self, seconds: float) -> None:
        self._line.settimeout(seconds)
        for _ in range(100):
            try:
                self.next()
            except TimeoutError:
                self._line.settimeout(DEADLINE_S)
                return
        raise AssertionError("it goes on talking")

    def close(self) -> None:
        self._line.close()


@pytest.fixture
def ear(daimon: Daimon, tmp_path: Path) -> Iterator[Ear]:
    made = Ear(tmp_path / "notify")
    daimon.environment["NOTIFY_SOCKET"] = str(tmp_path / "notify")
    yield made
    made.close()


def ask(daimon: Daimon, method: str, path: str, body: bytes | None = None) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = unix.connect(daimon.home / "daimon.sock", DEADLINE_S)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def turn_of(daimon: Daimon, taken: str) -> Any:
    return json.loads(ask(daimon, "GET", f"/v1/events/{json.loads(taken)['event']}")[1])["turn"]


def test_a_manager_hears_ready_beats_and_the_end(daimon: Daimon, ear: Ear) -> None:
    daimon.environment["WATCHDOG_USEC"] = "600000"
    gateway = daimon.up()
    ready = ear.next()
    assert ready["READY"] == "1"  # beats are for whoever is there: none comes before
    assert ready["STATUS"].startswith("http://127.0.0.1:")
    for _ in range(3):
        assert ear.next() == {"WATCHDOG": "1"}
    gateway.send_signal(signal.SIGTERM)
    told = ear.next_but_beats()
    assert told["STOPPING"] == "1"
    assert int(told["EXTEND_TIMEOUT_USEC"]) > 12_000_000  # kernel.drain_s and the two seconds of open requests
    assert finish(gateway).code == 0


def test_a_gateway_that_does_not_turn_any_more_stops_beating(daimon: Daimon, ear: Ear) -> None:
    daimon.environment["WATCHDOG_USEC"] = "300000"
    gateway = daimon.up()
    assert ear.next_but_beats()["READY"] == "1"
    assert ear.next() == {"WATCHDOG": "1"}
    os.kill(gateway.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, gateway.pid, os.WSTOPPED)
    ear.wait_for_silence(0.6)  # two of its limits
    os.kill(gateway.pid, signal.SIGCONT)
    assert ear.next() == {"WATCHDOG": "1"}
    finish(gateway, signal.SIGTERM)


def test_what_it_starts_cannot_speak_for_it(daimon: Daimon, ear: Ear) -> None:
    gateway = daimon.up()
    assert ear.next_but_beats()["READY"] == "1"
    assert "NOTIFY_SOCKET" in daimon.environment
    children = Path(f"/proc/{gateway.pid}/task/{gateway.pid}/children").read_text().split()
    assert [child for child in children if b"NOTIFY_SOCKET" in environment_of(child)] == []
    finish(gateway, signal.SIGTERM)


def environment_of(pid: str) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def test_while_a_turn_rests_events_are_kept_and_it_is_not_ready(daimon: Daimon, ear: Ear) -> None:
    daimon.use_patient_model("[kernel]\ndrain_s = 50\n")
    gateway = daimon.up()
    assert ear.next_but_beats()["READY"] == "1"
    assert ask(daimon, "GET", "/readyz")[:2] == (200, "ready\n")
    first = ask(daimon, "POST", "/v1/events", b'{"type": "message", "text": "wait"}')
    wait_until(lambda: (daimon.signs / "started").exists())
    gateway.send_signal(signal.SIGTERM)
    assert ear.next_but_beats()["STOPPING"] == "1"

    status, missing, headers = ask(daimon, "GET", "/readyz")
    assert (status, missing.split(":")[0], int(headers["retry-after"]) > 0) == (503, "ending", True)
    assert ask(daimon, "GET", "/healthz")[0] == 200
    late = ask(daimon, "POST", "/v1/events", b'{"type": "message", "text": "late", "conversation": "other"}')
    assert late[0] == 202
    (daimon.signs / "go").touch()
    assert finish(gateway).code == 0

    (daimon.signs / "go").unlink()  # whoever has to begin again now does not come to an end
    gateway = daimon.up()
    assert turn_of(daimon, first[1])["state"] == "done"
    wait_until(lambda: (turn_of(daimon, late[1]) or {}).get("state") == "done")
    finish(gateway, signal.SIGTERM)


def test_a_turn_that_does_not_rest_is_cut_after_its_time_and_goes_on_with_the_next_start(daimon: Daimon) -> None:
    daimon.use_patient_model("[kernel]\ndrain_s = 0\n")
    gateway = daimon.up()
    taken = ask(daimon, "POST", "/v1/events", b'{"type": "message", "text": "wait"}')
    wait_until(lambda: (daimon.signs / "started").exists())
    assert finish(gateway, signal.SIGTERM).code == 0
    (daimon.signs / "go").touch()
    gateway = daimon.up()
    wait_until(lambda: turn_of(daimon, taken[1])["state"] == "done")
    finish(gateway, signal.SIGTERM)


def test_a_second_signal_ends_it_on_the_spot(daimon: Daimon, ear: Ear) -> None:
    daimon.use_patient_model("[kernel]\ndrain_s = 50\n")
    gateway = daimon.up()
    assert ask(daimon, "POST", "/v1/events", b'{"type": "message", "text": "wait"}')[0] == 202
    wait_until(lambda: (daimon.signs / "started").exists())
    gateway.send_signal(signal.SIGTERM)
    while "STOPPING" not in ear.next():
        pass
    assert finish(gateway, signal.SIGTERM).code == -signal.SIGTERM
