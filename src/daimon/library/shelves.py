"""The files of installed skills: `HOME/skills/NAME/VERSION/…`, written once, read-only from then on.

A version is written beside its place, forced to disk and moved there in one step: a directory with the name of a version is whole, or was
meddled with, which its hash tells. `sweep` takes away what no row of the index names, such as what a killed process left.
"""

import os
import re
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

from daimon.library.tree import read_tree
from daimon.machine.files import force
from daimon.skills.bundle import Bundle, version_of

DRAFT, INDEX = ".draft-", "index.json"
_VERSION = re.compile(r"[0-9a-f]{64}")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Shelves:
    def __init__(self, top: Path) -> None:
        self.top = top

    def at(self, name: str, version: str) -> Path:
        return self.top / name / version

    def put(self, name: str, bundle: Bundle) -> str:
        """Gives the version. Raises OSError, and then nothing has changed."""
        version = version_of(bundle)
        place = self.at(name, version)
        draft = self.top / f"{DRAFT}{secrets.token_hex(8)}"
        try:
            _write(draft, bundle)
            place.parent.mkdir(mode=0o700, exist_ok=True)
            if place.exists():
                _away(place)  # no row names it, or its files were meddled with
            draft.rename(place)
        except BaseException:
            _away(draft)
            raise
        force(place.parent)
        force(self.top)
        return version

    def read(self, name: str, version: str) -> Bundle:
        """As it is now. Raises BadInput, TooLarge, OSError."""
        return read_tree(self.at(name, version))

    def drop(self, name: str, version: str) -> None:
        """Under another name first: what has the name of a version is whole."""
        place, draft = self.at(name, version), self.top / f"{DRAFT}{secrets.token_hex(8)}"
        if place.exists():
            place.rename(draft)
            _away(draft)
        if place.parent.exists() and not any(place.parent.iterdir()):
            place.parent.rmdir()
        force(self.top)

    def sweep(self, named: Collection[tuple[str, str]]) -> None:
        for entry in tuple(os.scandir(self.top)):
            if entry.name.startswith((DRAFT, f".{INDEX}.")):
                _away(Path(entry.path))
            elif entry.is_dir(follow_symlinks=False):
                _sweep_versions(Path(entry.path), named)


def _sweep_versions(place: Path, named: Collection[tuple[str, str]]) -> None:
    """What does not look like a version is somebody else's, and stays."""
    for version in os.listdir(place):
        if _VERSION.fullmatch(version) and (place.name, version) not in named:
            _away(place / version)
    if not os.listdir(place):
        place.rmdir()


def _write(top: Path, bundle: Bundle) -> None:
    top.mkdir(mode=0o700, parents=True)
    made = {top}
    for path, file in sorted(bundle.items()):
        place = top / path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made.update(parent for parent in place.parents if parent.is_relative_to(top))
        descriptor = os.open(place, _NEW, 0o500 if file.is_executable else 0o400)
        with open(descriptor, "wb") as written:
            written.write(file.data)
            written.flush()
            os.fchmod(descriptor, 0o500 if file.is_executable else 0o400)
            os.fsync(descriptor)
    for directory in made:
        force(directory)


def _away(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    else:
        shutil.rmtree(place, ignore_errors=True)
