"""Databases of a home, to look at: nothing is made, changed or mended, whether somebody writes to them or not.

    a log with content    somebody runs, or was killed: read through the log, as it is
    none, or an empty one all is in the main file: read as if it could not change

In the second case somebody may start meanwhile, and what is read may be torn. So a look that found something wrong in files that changed
is looked again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

T = TypeVar("T")
TRIES = 3
FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


@contextmanager
def looked_at(path: Path) -> Iterator[apsw.Connection]:
    """Raises apsw.Error."""
    how = "readonly_shm=1" if _has_log(path) else "immutable=1"
    connection = apsw.Connection(f"file:{quote(str(path))}?mode=ro&{how}", flags=FLAGS)
    try:
        connection.set_busy_timeout(5_000)
        yield connection
    finally:
        connection.close()


def steadily(path: Path, look: Callable[[], T], is_fine: Callable[[T], bool]) -> T:
    """What `look` finds, in files that stood still meanwhile or with nothing wrong in them."""
    found = None
    for _ in range(TRIES):
        before = _moment(path)
        found = look()
        if is_fine(found) or before == _moment(path):
            return found
    assert found is not None
    return found


def _has_log(path: Path) -> bool:
    return _written(path.with_name(f"{path.name}-wal"))[1:] > (0,)


def _moment(path: Path) -> tuple[int, ...]:
    return (*_written(path), *_written(path.with_name(f"{path.name}-wal")))


def _written(path: Path) -> tuple[int, ...]:
    """When, and how much; nothing where it is not there: whoever closes a database last takes its log away, at any moment."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_mtime_ns, found.st_size
