"""What a person types, or what stdin holds: one message after the other.

On a terminal: readline with a history. A message goes on in the next line after a backslash, and from \"\"\" to \"\"\"; pasted text is one
message however many lines it has. What arrives while the person types is shown above the prompt; a question among it is kept for whoever
reads the line, because the line may answer it.

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
from daimon.cli.attention import attentive
from daimon.cli.history import History
from daimon.cli.interrupt import Interrupt
from daimon.cli.speech import HANG, answers, question
from daimon.cli.talk import Connected, Lost, News, Talk
from daimon.cli.wrap import fill
from daimon.kernel import words
from daimon.kernel.feed import Spoken
from daimon.kernel.questions import OpenQuestion
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
        self.is_asking = False
        """A question was shown, and the next line is its answer."""
        self.asked: OpenQuestion | None = None
        """One that came up while the prompt waited."""

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
        with self._interrupt.window(), attentive():
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
                case Spoken() as spoken if (news := self._talk.news(spoken)) is not None:
                    self._show(news)
                case Lost(at=at):
                    self._lost_at = self._lost_at or at
                case Connected() if self._lost_at is not None:
                    self._catch_up(self._lost_at)
                    self._lost_at = None
                case _:
                    pass

    def _catch_up(self, lost_at: datetime) -> None:
        for trace in self._talk.ended_since(lost_at):
            key, text = f"{trace.turn.id}:", reply(trace.turn, trace.steps)
            if text and not key.startswith(self._talk.known):
                self._talk.known += (key,)
                self._show(News(words.said(trace.event.body), text))

    def _show(self, news: News) -> None:
        if news.question is None:
            _above_prompt((answers(news.about), "dim"), (news.text, None))
        elif self.is_asking:
            _above_prompt(("  · another question waits behind this one", "dim"))
        else:
            self.is_asking, self.asked = True, news.question
            _above_prompt((answers(news.about), "dim"), (question(news.question), "yellow"))


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


def _above_prompt(*paragraphs: tuple[str, str | None]) -> None:
    sys.stdout.write("\r\x1b[J")
    for text, style in paragraphs:
        if text:
            screen.say(fill(text, HANG if text.startswith("  · ") else ""), style)
    sys.stdout.write(f"\n{PROMPT}{readline.get_line_buffer()}")
    sys.stdout.flush()


def _bold(prompt: str) -> str:
    """Readline must know which characters take no room."""
    return f"\x01\x1b[1m\x02{prompt}\x01\x1b[0m\x02" if screen.out().color_system else prompt


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
