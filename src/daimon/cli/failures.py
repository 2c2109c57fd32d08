"""What a failing command leaves on stderr: a sentence for what we know, one line for what we do not.

Never a stack trace, unless --debug asks for it, and never a secret: neither what is shaped like one, nor a value of the vault, where that
opens without asking anybody. A gateway cleans what it says and what it logs by itself.
"""

import errno
import json
import logging
import os
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from daimon.abi.errors import DaimonError
from daimon.cli import exits
from daimon.cli.options import DEBUG_VARIABLE, JSON_VARIABLE

if TYPE_CHECKING:
    from daimon.homes import Home

_LOG = logging.getLogger(__name__)


def tell(error: BaseException) -> int:
    """Says what happened; returns the exit code."""
    if os.environ.get(DEBUG_VARIABLE):
        sys.stderr.write(_clean("".join(traceback.format_exception(error))))
    cause = innermost(error)
    match cause:
        case DaimonError():
            code, name, text = exits.code_for(cause), cause.code, str(cause)
        case KeyboardInterrupt():
            return exits.INTERRUPTED
        case BrokenPipeError():
            return exits.FAILED
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            code, name = exits.FULL, "no_space"
            text = f"the disk of {cause.filename or f'the home {_home().path}'} is full; make room, then run this again"
        case OSError(strerror=str(why)):
            place = f"{cause.filename}: " if cause.filename else ""
            code, name, text = exits.FAILED, "os_error", f"{place}{why}"
        case _:
            code, name = exits.BUG, "bug"
            text = f"an error in Daimon itself: {type(cause).__name__}: {cause} (`daimon --debug …` shows where)"
    _write(name, text)
    return code


def log_in_lines() -> None:
    """What libraries log while a gateway runs here: one line a record, on stderr; where it came from only with --debug.

    What Python itself would write to stderr goes the same way, since logs are cleaned of secrets: warnings, and errors that nobody catches
    in threads and finalisers.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("daimon: %(message)s") if os.environ.get(DEBUG_VARIABLE) else _Line())
    handler.setLevel(logging.WARNING)
    handler.addFilter(_is_news)
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    threading.excepthook = _failed_in_thread
    sys.unraisablehook = _failed_unseen


def _failed_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_type is not SystemExit:
        name = failed.thread.name if failed.thread else "a thread"
        _LOG.error("%s failed", name, exc_info=failed.exc_value)


def _failed_unseen(failed: "sys.UnraisableHookArgs") -> None:
    _LOG.error("%s: %r", failed.err_msg or "an error that nobody could catch, in", failed.object, exc_info=failed.exc_value)


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        what = "" if error is None else f": {type(error).__name__}: {error} (`daimon --debug up` shows where)"
        return " ".join(f"daimon: {record.getMessage()}{what}".split())


def _is_news(record: logging.LogRecord) -> bool:
    """Streams that are cut off at the end are how a server ends, not a failure."""
    from asyncio import CancelledError

    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, CancelledError) and not record.getMessage().startswith("Cancel ")


def innermost(error: BaseException) -> BaseException:
    """What a group of exceptions is about: Daimon's own error if there is one."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [innermost(inner) for inner in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, DaimonError)), leaves[0])


def _write(code: str, text: str) -> None:
    from daimon.cli.screen import readable

    text = _clean(text)
    if os.environ.get(JSON_VARIABLE) or "--json" in sys.argv:
        line = json.dumps({"error": {"code": code, "message": text}})
    else:
        line = readable(f"daimon: {text}")
    sys.stderr.write(line + "\n")


def _home() -> "Home":
    from daimon.homes import home_at

    return home_at(_home_given())


def _clean(text: str) -> str:
    from daimon.config import without_shapes

    with suppress(DaimonError, OSError):  # somebody else's home, perhaps
        home = _home()
        if home.vault.exists():
            from daimon.keeper import redactor_of

            return redactor_of(home).clean(text)
    return without_shapes(text)


def _home_given() -> Path | None:
    """The one of this command, wherever its option stands: a command that failed may have failed before it was read."""
    for place, word in enumerate(sys.argv):
        name, _, value = word.partition("=")
        if name == "--home":
            return Path(value or "".join(sys.argv[place + 1 : place + 2]))
    return None
