"""The socket in the home directory, wherever that is."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from daimon.abi.errors import Misconfigured
from daimon.gateway import unix


def talk(path: Path) -> None:
    with unix.bind(path) as server, unix.connect(path, 60.0) as caller:
        served, _ = server.accept()
        with served:
            caller.sendall(b"hello")
            assert served.recv(10) == b"hello"


def test_whoever_connects_is_heard(tmp_path: Path) -> None:
    talk(tmp_path / "daimon.sock")


@pytest.mark.parametrize("length", [80, 99, 100, 101, 107, 108, 150, 1_000])
def test_a_path_of_any_length_works(tmp_path: Path, length: int) -> None:
    path = tmp_path
    while len(str(path)) + len("/daimon.sock") < length:
        path /= "d" * min(200, max(1, length - len(str(path)) - len("/daimon.sock") - 1))
    path.mkdir(parents=True, exist_ok=True)
    if length > unix.LONGEST_PATH and not Path("/proc/self/fd").is_dir():
        with pytest.raises(Misconfigured, match="too long for a socket; choose a shorter --home"):
            unix.bind(path / "daimon.sock")
        return
    talk(path / "daimon.sock")
    assert (path / "daimon.sock").is_socket()


def test_a_path_is_measured_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 60)
    path.mkdir()
    talk(path / "daimon.sock")


def test_the_socket_is_for_the_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with unix.bind(tmp_path / "daimon.sock"):
            assert stat.S_IMODE((tmp_path / "daimon.sock").stat().st_mode) == 0o600
        assert os.umask(0) == 0
    finally:
        os.umask(before)


def test_a_socket_that_a_dead_process_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "daimon.sock"
    unix.bind(path).close()
    assert path.is_socket()
    talk(path)


@pytest.mark.parametrize("is_long", [True, False])
def test_where_nobody_listens_connecting_fails(tmp_path: Path, is_long: bool) -> None:
    path = tmp_path / ("d" * 150 if is_long else "d") / "daimon.sock"
    with pytest.raises(FileNotFoundError):
        unix.connect(path, 60.0)
    path.parent.mkdir()
    unix.bind(path).close()
    with pytest.raises(ConnectionRefusedError):
        unix.connect(path, 60.0)


def _open_files() -> set[tuple[str, str]]:
    """What is open, each with its number. What others have left for the garbage collector may go at any moment, so nobody counts."""
    found: set[tuple[str, str]] = set()
    for number in os.listdir("/dev/fd"):
        with suppress(FileNotFoundError):  # the listing itself was open
            found.add((number, os.readlink(f"/dev/fd/{number}")))
    return found


@pytest.mark.parametrize("is_long", [True, False])
def test_where_there_is_no_directory_binding_fails_and_leaves_nothing_open(tmp_path: Path, is_long: bool) -> None:
    before = _open_files()
    with pytest.raises(OSError, match="No such file"):
        unix.bind(tmp_path / ("d" * 150 if is_long else "d") / "daimon.sock")
    assert _open_files() <= before


def test_a_long_path_leaves_no_directory_open(tmp_path: Path) -> None:
    path = tmp_path / ("d" * 50) / "daimon.sock"
    path.parent.mkdir()
    before = _open_files()
    with unix.bind(path) as bound:
        assert {number for number, _ in _open_files() - before} == {f"{bound.fileno()}"}


def test_a_caller_gives_up_in_time(tmp_path: Path) -> None:
    with unix.bind(tmp_path / "daimon.sock"), unix.connect(tmp_path / "daimon.sock", 0.01) as caller, pytest.raises(socket.timeout):
        caller.recv(1)
