"""Lines that a person types, or that stdin holds.

On a terminal: readline with a history in the home directory, a backslash at the end of a line goes on in the next, and what arrives while
the person types is shown above the prompt.
"""

import readline
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from daimon.cli import screen
from daimon.cli.talk import Connected, Lost, Talk
from daimon.kernel.feed import Spoken
from daimon.observe import words
from daimon.observe.trace import reply

PROMPT, MORE = "› ", "… "
LONGEST_HISTORY = 2_000
LOOK_S = 60.0


class Keyboard:
    def __init__(self, history: Path, talk: Talk) -> None:
        self._history = history
        self._talk = talk
        self._lost_at: datetime | None = None
        self.known: tuple[str, ...] = ()
        """How the keys of messages begin that are no news."""

    @contextmanager
    def remembering(self) -> Iterator[None]:
        with suppress(OSError):
            readline.read_history_file(self._history)
        readline.set_history_length(LONGEST_HISTORY)
        try:
            yield
        finally:
            with suppress(OSError):
                readline.write_history_file(self._history)
                self._history.chmod(0o600)

    def lines(self) -> Iterator[str]:
        """What is typed, until Ctrl-D. Ctrl-C gives up the line, not the chat."""
        while True:
            try:
                text = self._read()
            except EOFError:
                screen.say("")
                return
            except KeyboardInterrupt:
                screen.say("")
                continue
            if text:
                yield text

    def _read(self) -> str:
        with self._showing_news():
            lines = [input(_bold(PROMPT))]
            while lines[-1].endswith("\\"):
                lines[-1] = lines[-1][:-1]
                lines.append(input(_bold(MORE)))
        return _clean("\n".join(lines))

    @contextmanager
    def _showing_news(self) -> Iterator[None]:
        is_done = threading.Event()
        thread = threading.Thread(target=self._show_news, args=(is_done,), name="news", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            self._talk.listener.nudge()
            thread.join()

    def _show_news(self, is_done: threading.Event) -> None:
        while not is_done.is_set():
            match self._talk.listener.next(LOOK_S):
                case Spoken(key=key, said=said):
                    self._show_once(key, words.joined(said.parts))
                case Lost(at=at):
                    self._lost_at = self._lost_at or at
                case Connected() if self._lost_at is not None:
                    for trace in self._talk.ended_since(self._lost_at):
                        self._show_once(f"{trace.turn.id}:", reply(trace.turn, trace.steps))
                    self._lost_at = None
                case _:
                    pass

    def _show_once(self, key: str, text: str) -> None:
        if text and not key.startswith(self.known):
            self.known += (key,)
            _above_prompt(text)


def piped() -> Iterator[str]:
    """The lines of stdin that hold something."""
    for line in sys.stdin.buffer:
        if text := line.decode("utf-8", "replace").strip():
            yield text


def _above_prompt(text: str) -> None:
    sys.stdout.write(f"\r\x1b[J{screen.plain(text)}\n\n{PROMPT}{readline.get_line_buffer()}")
    sys.stdout.flush()


def _bold(prompt: str) -> str:
    """Readline must know which characters take no room."""
    return f"\x01\x1b[1m\x02{prompt}\x01\x1b[0m\x02" if screen.out().color_system else prompt


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
