"""Works on an overlay in a mount namespace of its own, as a workspace of layers is, and says what came of it: layered.py PLACE USER.

Prints one JSON object. Only root can run it.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.sandbox.files.grounds import driver_on

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Page, Query, Replacement
from daimon.sandbox import mounts
from daimon.sandbox.files.driver import Driver


def mount(place: Path, live: str) -> None:
    for name in (live, f"{live}.work"):
        (place / name).mkdir()
        os.chown(place / name, *owner(place))
    options = f"userxattr,lowerdir={place / 'base'},upperdir={place / live},workdir={place / f'{live}.work'}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(place / "tree")], check=True)


def exchange(place: Path) -> None:
    subprocess.run(["umount", "-l", str(place / "tree")], check=True)
    mount(place, "second")


def owner(place: Path) -> tuple[int, int]:
    about = (place / "base").stat()
    return about.st_uid, about.st_gid


async def text(driver: Driver, path: str) -> str:
    try:
        found = await driver.read(path)
    except ToolFailed as failed:
        return failed.reason
    assert isinstance(found, Page)
    return found.text


async def work(driver: Driver, place: Path) -> dict[str, Any]:
    said: dict[str, Any] = {"read": await text(driver, "d/a")}
    moved = await driver.move("d", "e")
    said |= {
        "copied": moved.was_copied,
        "moved": await text(driver, "e/a"),
        "left": await text(driver, "d/a"),
        "base": os.listdir(place / "base/d"),
    }
    await driver.edit("e/a", [Replacement("lower", "upper")])
    await driver.write("f", "new")
    said["found"] = [hit.path for hit in (await driver.search(Query(pattern="upper"))).hits]
    said["own"] = driver.changed()
    (place / "tree/e/a").write_text("theirs")
    said["news"] = driver.changed()
    await text(driver, "kept")
    (place / "base/kept").write_text("changed below")
    said["below"] = driver.changed()
    exchange(place)
    said |= {"rotated": sorted(driver.changed()), "again": await text(driver, "d/a"), "gone": await text(driver, "e/a")}
    return said


def main(place: Path, user: int | None) -> None:
    mounts.unshare(mounts.NEW_NAMESPACE)
    mounts.keep_to_oneself()
    mount(place, "first")
    with driver_on(place / "tree", user=user, base=str(place / "base")) as driver:
        said = asyncio.run(work(driver, place))
    said["owners"] = sorted({path.stat().st_uid for path in (place / "first").rglob("*") if path.is_file()})
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) or None)
