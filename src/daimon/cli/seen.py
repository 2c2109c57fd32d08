"""When somebody last sat at a conversation, so that what was answered since can be shown.

One JSON object in the home, from the name of a conversation to the moment: {"main": "2026-11-15T12:00:00Z"}. It is the owner's alone (0600)
and replaced as a whole. It is written while the chat goes on, too, as a terminal may be closed at any moment. Where it cannot be read or
written, nothing was missed, and there is no complaint.
"""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from daimon.abi.codec import adapter, encode
from daimon.abi.plain import Moment

_SHAPE = dict[str, Moment]


class Seen:
    def __init__(self, path: Path, conversation: str) -> None:
        self._path = path
        self._conversation = conversation

    def last(self) -> datetime | None:
        """None: nobody sat here before."""
        return self._read().get(self._conversation)

    def mark(self, moment: datetime) -> None:
        moments = self._read() | {self._conversation: moment}
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        with suppress(OSError):
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(encode(_SHAPE, moments))
            beside.replace(self._path)

    def _read(self) -> dict[str, datetime]:
        with suppress(OSError, ValidationError):
            found: dict[str, datetime] = adapter(_SHAPE).validate_json(self._path.read_bytes())
            return found
        return {}
