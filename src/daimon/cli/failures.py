"""What a failing command leaves on stderr: a sentence for what we know, one line for what we do not.

Never a stack trace, unless --debug asks for it, and never what is shaped like a secret. Values of the vault are known to a gateway only,
which cleans what it says and what it logs by itself.
"""

import json
import logging
import os
import sys
import traceback

from daimon.abi.errors import DaimonError
from daimon.cli import exits
from daimon.cli.options import DEBUG_VARIABLE, JSON_VARIABLE


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
        case OSError(strerror=str(why)):
            place = f"{cause.filename}: " if cause.filename else ""
            code, name, text = exits.FAILED, "os_error", f"{place}{why}"
        case _:
            code, name = exits.BUG, "bug"
            text = f"an error in Daimon itself: {type(cause).__name__}: {cause} (`daimon --debug …` shows where)"
    _write(name, text)
    return code


def log_in_lines() -> None:
    """What libraries log while a gateway runs here: one line a record, on stderr; where it came from only with --debug."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("daimon: %(message)s") if os.environ.get(DEBUG_VARIABLE) else _Line())
    handler.setLevel(logging.WARNING)
    handler.addFilter(_is_news)
    logging.getLogger().addHandler(handler)


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
    from daimon.cli.screen import plain

    text = _clean(text)
    if os.environ.get(JSON_VARIABLE) or "--json" in sys.argv:
        line = json.dumps({"error": {"code": code, "message": text}})
    else:
        line = f"daimon: {plain(text)}"
    sys.stderr.write(line + "\n")


def _clean(text: str) -> str:
    from daimon.config import without_shapes

    return without_shapes(text)
