"""A reply while it comes, without known secrets: what may be the beginning of one waits for the next piece.

A value that is cut in two by the stream must not show, nor its first half before anybody can tell. So of all that has come, as much is
shown as cannot belong to a known value any more; usually all but a few characters. What was shown, put together, is what cleaning the
whole would give. A change between text, reasoning and calls ends the waiting: no value goes on in another kind of words.
"""

from collections.abc import Iterator

from daimon.abi.model import Delta
from daimon.abi.secret import Redactor


class Piecewise:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._waiting: Delta | None = None
        self.shown = 0
        """Characters so far."""

    def take(self, piece: Delta) -> Iterator[tuple[int, Delta]]:
        """What may be shown now, and where it belongs."""
        waiting = self._waiting
        if waiting is not None and waiting.of != piece.of:
            yield from self.rest()
            waiting = None
        text = piece.text if waiting is None else waiting.text + piece.text
        ready = len(text) - self._redactor.unfinished(text)
        self._waiting = Delta(text[ready:], piece.of) if ready < len(text) else None
        yield from self._told(Delta(text[:ready], piece.of))

    def rest(self) -> Iterator[tuple[int, Delta]]:
        """At the end, all that still waits."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            yield from self._told(waiting)

    def _told(self, piece: Delta) -> Iterator[tuple[int, Delta]]:
        text = self._redactor.clean_known(piece.text)
        if text:
            yield self.shown, Delta(text, piece.of)
            self.shown += len(text)
