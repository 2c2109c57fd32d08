"""What a person types, or what stdin holds: one message after the other.

On a terminal: readline with a history. A message goes on in the next line after a backslash, and from \"\"\" to \"\"\"; pasted text is one
message however many lines it has. What arrives while the person types is shown above the prompt.

Pasting: where readline knows bracketed paste, the terminal marks what is pasted and readline keeps it as one line with breaks in it. Where
it does not (libedit, a dumb terminal), lines that arrive faster than anybody types belong together.
"""

import readline
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from daimon.cli import screen
from daimon.cli.history import History
from daimon.cli.interrupt import Interrupt
from daimon.cli.talk import Connected, Lost, Talk
from daimon.kernel.feed import Spoken
from daimon.observe import words
from daimon.observe.trace import reply

PROMPT, MORE = "› ", "… "
FENCE = '"""'
LOOK_S = 60.0
BURST_S = 0.02
"""Between two lines of a paste there is less, between two lines of a typist there is more."""


class Keyboard:
    def __init__(self, history: History, talk: Talk, interrupt: Interrupt) -> None:
        self._history = history
        self._talk = talk
        self._interrupt = interrupt
        self._has_marks = _mark_pastes()
        self._lost_at: datetime | None = None
        self.known: tuple[str, ...] = ()
        """How the keys of messages begin that are no news."""

    def messages(self) -> Iterator[str]:
        """What is typed, until Ctrl-D. Ctrl-C gives up what was begun, not the chat."""
        self._history.load()
        while True:
            try:
                text = self._read()
            except EOFError:
                screen.say("")
                return
            except KeyboardInterrupt:
                was_typing = bool(readline.get_line_buffer())
                screen.say("" if was_typing else "\n(Ctrl-D leaves; Ctrl-C stops a turn, or gives up a line)", "dim")
                continue
            if text:
                self._history.add(text)
                yield text

    def _read(self) -> str:
        with self._showing_news():
            text = self._line(PROMPT)
            try:
                while _is_open(text):
                    text = f"{_begun(text)}\n{self._line(MORE)}"
            except EOFError:  # as in a shell: what was begun is all there is
                screen.say("")
            except KeyboardInterrupt:
                screen.say("")
                text = ""
        return _clean(_unfenced(text))

    def _line(self, prompt: str) -> str:
        with self._interrupt.window():
            lines = [input(_bold(prompt))]
            while not self._has_marks and select.select([sys.stdin], [], [], BURST_S)[0]:
                lines.append(input())
        return "\n".join(lines)

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


def _mark_pastes() -> bool:
    """Will pasted text come in one piece?"""
    if screen.out().is_dumb_terminal or "libedit" in (readline.__doc__ or ""):
        return False
    readline.parse_and_bind("set enable-bracketed-paste on")
    return True


def _is_open(text: str) -> bool:
    """Does the message go on?"""
    start = text.lstrip()
    if start.startswith(FENCE):
        return not (len(start.rstrip()) >= 2 * len(FENCE) and start.rstrip().endswith(FENCE))
    return text.endswith("\\")


def _begun(text: str) -> str:
    return text[:-1] if text.endswith("\\") and not text.lstrip().startswith(FENCE) else text


def _unfenced(text: str) -> str:
    text = text.strip()
    return text.removeprefix(FENCE).removesuffix(FENCE) if text.startswith(FENCE) else text


def _above_prompt(text: str) -> None:
    sys.stdout.write(f"\r\x1b[J{screen.plain(text)}\n\n{PROMPT}{readline.get_line_buffer()}")
    sys.stdout.flush()


def _bold(prompt: str) -> str:
    """Readline must know which characters take no room."""
    return f"\x01\x1b[1m\x02{prompt}\x01\x1b[0m\x02" if screen.out().color_system else prompt


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
