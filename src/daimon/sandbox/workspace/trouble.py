"""What a full disk, a missing directory or a damaged index mean to whoever asked."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from daimon.abi.errors import Misconfigured, ToolFailed

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def told() -> Iterator[None]:
    """Nothing counts until it is in the index, so what failed half-way has changed nothing."""
    try:
        yield
    except apsw.FullError as failure:
        raise _full("the index of the workspaces") from failure
    except (apsw.CorruptError, apsw.NotADBError) as failure:
        raise Misconfigured("the index of the workspaces is damaged; bring index.db back from a backup") from failure
    except OSError as failure:
        if failure.errno in FULL:
            raise _full(str(failure.filename or "the workspaces")) from failure
        raise ToolFailed("workspace", f"the workspace cannot be read or written: {failure}; nothing was changed") from failure


def _full(what: str) -> ToolFailed:
    said = f"no room is left on the disk of {what}; free some, or discard workspaces. Nothing was changed"
    return ToolFailed("disk_full", said, retryable=True)
