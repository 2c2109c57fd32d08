"""The home directory: for one owner, for one process at a time."""

import fcntl
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.journal.world import child, said_by

from daimon.abi.errors import HomeBusy, Misconfigured
from daimon.machine.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.ensure()
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# -- the directory


def test_a_home_is_made_for_the_owner_only(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home")
    home.ensure()
    assert mode(home.path) == 0o700


def test_ensuring_a_home_twice_changes_nothing(home: Home) -> None:
    (home.path / "daimon.toml").write_text("")
    home.ensure()
    assert [path.name for path in home.path.iterdir()] == ["daimon.toml"]


@pytest.mark.parametrize("open_to", [0o755, 0o750, 0o777, 0o701])
def test_a_home_that_others_could_enter_is_closed_to_them(tmp_path: Path, open_to: int) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(open_to)
    Home(tmp_path / "home").ensure()
    assert mode(tmp_path / "home") == 0o700


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(Misconfigured, match="is not a directory; choose another with --home"):
        Home(tmp_path / "home").ensure()


def test_a_home_inside_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="is not a directory; choose another with --home"):
        Home(tmp_path / "file" / "home").ensure()


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Misconfigured, match="choose another with --home"):
        Home(tmp_path / "home").ensure()


ENSURE_AS_NOBODY = """
import os, sys
from pathlib import Path
from daimon.abi.errors import Misconfigured
from daimon.machine.home import Home

if os.geteuid() == 0:
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        Home(Path(path)).ensure()
    except Misconfigured as refused:
        print(refused)
"""


def test_a_home_that_cannot_be_made_or_is_anothers_is_refused(tmp_path: Path) -> None:
    told = said_by(ENSURE_AS_NOBODY, "/proc/no/home", "/").splitlines()
    assert told[0].startswith("the home /proc/no/home cannot be made: ")
    assert told[1] == "the home / belongs to another user; choose another with --home, or run as its owner"


# -- the lock

HOLD = """
import signal, sys
from pathlib import Path
from daimon.machine.home import Home

held = Home(Path(sys.argv[1])).lock()
print("held", flush=True)
signal.pause()
"""


def test_a_home_is_held_by_one_process_and_says_by_which(home: Home) -> None:
    with child(HOLD, home.path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(
            HomeBusy, match=rf"another Daimon \(process {process.pid}\) runs on {home.path}; stop it, or choose another --home"
        ):
            home.lock()
        process.kill()
    os.close(home.lock())


def test_a_lock_is_taken_once_inside_a_process_too(home: Home) -> None:
    held = home.lock()
    with pytest.raises(HomeBusy, match=f"process {os.getpid()}"):
        home.lock()
    os.close(held)
    os.close(home.lock())


def opened(home: Home) -> int:
    """How often this process has the lock open."""
    open_ = (Path("/proc/self/fd") / each for each in os.listdir("/proc/self/fd"))
    return sum(os.path.realpath(each) == str(home.path.resolve() / "lock") for each in open_)


@pytest.mark.parametrize(("how", "patience_s"), [(fcntl.LOCK_SH, 0.0), (fcntl.LOCK_EX, 60.0)], ids=["somebody looks", "somebody holds it"])
def test_who_only_looks_is_waited_for_and_who_holds_it_by_the_patient(home: Home, how: int, patience_s: float) -> None:
    os.close(home.lock())
    with (home.path / "lock").open() as other, ThreadPoolExecutor(1) as threads:
        fcntl.flock(other, how)
        waiting = threads.submit(home.lock, patience_s)
        while opened(home) < 2 and not waiting.done():
            os.sched_yield()
        fcntl.flock(other, fcntl.LOCK_UN)
        os.close(waiting.result(60.0))


@pytest.mark.parametrize("left", [b"", b"123456\n", b"\xff\xfe garbage " * 20])
def test_what_a_dead_process_left_in_the_lock_does_not_matter(home: Home, left: bytes) -> None:
    (home.path / "lock").write_bytes(left)
    held = home.lock()
    assert (home.path / "lock").read_text() == f"{os.getpid()}\n"
    os.close(held)


def test_the_lock_is_not_handed_down_to_children(home: Home) -> None:
    held = home.lock()
    assert not os.get_inheritable(held)
    os.close(held)


def test_a_lock_that_cannot_be_opened_is_told(home: Home) -> None:
    (home.path / "lock").mkdir()
    with pytest.raises(Misconfigured, match="lock cannot be opened: Is a directory"):
        home.lock()


# -- the token


def test_the_token_is_made_once_and_is_for_the_owner_only(home: Home) -> None:
    token = home.token()
    assert len(token) >= 32
    assert home.token() == Home(home.path).token() == token
    assert mode(home.path / "token") == 0o600
    assert [path.name for path in home.path.iterdir()] == ["token"]


def test_two_homes_have_two_tokens(tmp_path: Path) -> None:
    homes = [Home(tmp_path / name) for name in "ab"]
    for home in homes:
        home.ensure()
    assert homes[0].token() != homes[1].token()


@pytest.mark.parametrize(
    "left", [b"", b"\n", b"short\n", b"\xff" * 40, "é".encode() * 20], ids=["empty", "blank", "short", "garbage", "not ascii"]
)
def test_a_token_that_is_none_is_replaced(home: Home, left: bytes) -> None:
    (home.path / "token").write_bytes(left)
    token = home.token()
    assert len(token) >= 32
    assert token.isascii()
    assert home.token() == token


def test_a_half_written_token_of_a_crash_does_not_matter(home: Home) -> None:
    (home.path / "token.new").write_text("half")
    (home.path / "token.new").chmod(0o600)
    assert home.token() == home.token()
    assert mode(home.path / "token") == 0o600


def test_a_token_of_ones_own_is_taken(home: Home) -> None:
    (home.path / "token").write_text("  " + "t" * 40 + "\n")
    assert home.token() == "t" * 40
