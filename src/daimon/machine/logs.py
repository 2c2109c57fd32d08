"""What this process logs, without secrets: messages, and what stands in tracebacks.

Libraries log what they like: addresses with tokens in them, headers, errors that repeat a request. All of it passes the handlers of the
root, so the text that they are about to write is cleaned there, last thing. Handlers that a library puts on a logger of its own are not
ours.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from daimon.abi.secret import Redactor


@contextmanager
def cleaned_logs(redactor: Redactor) -> Iterator[None]:
    """While it lasts, whatever the handlers of the root write is cleaned."""
    handlers = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    for handler, formatter in handlers:
        handler.setFormatter(_Cleaned(formatter or logging.Formatter(), redactor))
    try:
        yield
    finally:
        for handler, formatter in handlers:
            handler.setFormatter(formatter)


class _Cleaned(logging.Formatter):
    def __init__(self, inner: logging.Formatter, redactor: Redactor) -> None:
        super().__init__()
        self._inner = inner
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.clean(self._inner.format(record))
