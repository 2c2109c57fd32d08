"""Puts layers together as the kernel does, works in them, and says what is there: overlay.py '{"layers": [...], "work": ..., "do": [...]}'

    layers    trees, topmost first; the first one is written to
    work      where the kernel works
    do        [what, path, argument...] one after the other; what the kernel refuses is passed over

Runs in a mount namespace of its own (`unshare --mount`), which ends with it. Prints the tree as JSON.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main(layers: list[str], work: str, do: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as at:
        options = f"userxattr,lowerdir={':'.join(layers[1:])},upperdir={layers[0]},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, at], check=True)
        try:
            for what, path, *rest in do:
                with contextlib.suppress(OSError, shutil.Error):
                    perform(what, Path(at, path), Path(at, *rest))
            sys.stdout.write(json.dumps(dict(listed(Path(at)))))
        finally:
            subprocess.run(["umount", at], check=True)


def perform(what: str, path: Path, other: Path) -> None:
    match what:
        case "write":
            path.write_text(other.name)
        case "delete":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        case "mkdir":
            path.mkdir()
        case "link":
            path.symlink_to(other.name)
        case "move":
            shutil.move(path, other)


def listed(top: Path):
    for where, directories, files in os.walk(top):
        for name in (*directories, *files):
            path = Path(where, name)
            shown = f"->{os.readlink(path)}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
            yield str(path.relative_to(top)), shown


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
