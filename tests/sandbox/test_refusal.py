"""Where no box can be made: nothing runs, and whoever reads it knows what to do. Real machines that lack something, made for the test."""

import json
import sys
from pathlib import Path

import pytest
from tests.sandbox.boxes import NOBODY, elsewhere, needs_bwrap, needs_root, place_of

from daimon.sandbox.refusal import explained

pytestmark = [needs_bwrap, needs_root]

TRY = """
import asyncio, json, sys
from pathlib import Path
from daimon.abi.box import Command, Role
from daimon.abi.errors import DaimonError
from daimon.sandbox.box import start
from daimon.sandbox.plan import Wanted, has_bwrap
async def main():
    try:
        box = await start(Wanted(Role(name="w", write=(".",)), Path(sys.argv[1]), {}))
    except DaimonError as refused:
        return {"refused": str(refused), "code": refused.code, "has_bwrap": has_bwrap()}
    ran = await box.run(Command(argv=("/bin/sh", "-c", sys.argv[2])))
    await box.close()
    return {"code": ran.code, "out": ran.out.head.decode(), "err": ran.err.head.decode(), "end": ran.end}
print(json.dumps(asyncio.run(main())))
"""


def tried(place: Path, line: str = "echo ran", **wanted: object) -> dict[str, str]:
    done = elsewhere([sys.executable, "-c", TRY, str(place), line], {"HOME": str(place)}, **wanted)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_an_ordinary_user_can_have_a_box() -> None:
    with place_of(NOBODY) as place:
        assert tried(place, uid=NOBODY)["out"] == "ran\n"


def test_without_bwrap_nothing_runs_and_the_package_is_named() -> None:
    with place_of(NOBODY) as place:
        found = tried(place, uid=NOBODY, cover=["/usr/bin/bwrap"])
    assert "install the package `bubblewrap`" in found["refused"]
    assert found["has_bwrap"] is False


def test_where_user_namespaces_are_switched_off_the_setting_is_named() -> None:
    with place_of(NOBODY) as place:
        found = tried(place, uid=NOBODY, no_namespaces=True)
    assert found["code"] == "misconfigured"
    assert "nothing runs without one" in found["refused"]
    assert "sudo sysctl -w user.max_user_namespaces=15000" in found["refused"]


def test_on_a_full_disk_a_command_hears_so_and_the_box_stays() -> None:
    with place_of(NOBODY) as place:
        line = "head -c 3000000 /dev/zero > big; echo $?; rm big; echo small > small; cat small"
        found = tried(place, line, tmpfs={str(place): "1m"})
    assert found["out"] == "1\nsmall\n"
    assert "No space left" in found["err"]


def test_a_workspace_that_cannot_be_written_can_be_read() -> None:
    with place_of(NOBODY) as place:
        (place / "data").write_text("read\n")
        place.chmod(0o555)
        found = tried(place, "cat data; touch new || echo refused", uid=NOBODY + 1)
    assert found["out"] == "read\nrefused\n"


@pytest.mark.parametrize("number", [0, 1, 13, 28, 38, 999])
def test_whatever_the_error_there_is_something_to_do(number: int) -> None:
    said = explained(number, "the reason")
    assert "no box can be made, and nothing runs without one: the reason. " in said
    assert said.partition("the reason. ")[2]
