"""`daimon chat`: one message, a terminal chat, or one message per line of stdin.

On a terminal tokens are shown as they come, tool calls as cards, and what a turn took under it. Into a pipe, or as JSON, only what is
final: the reply as the journal holds it. After a turn that asks something, the next line is its answer; on a terminal any open question of
the conversation is asked, the oldest first, one at a time. A question that was put off (`wait` where money ran out) is not asked again:
only a line that begins with one of its options answers it. Files are taken from what a person wrote in a message of their own, never from
lines of stdin: those may be a stranger's words.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import DaimonError
from daimon.abi.ids import StepRef
from daimon.abi.message import File, Image
from daimon.abi.step import Decided, Park, Step
from daimon.abi.turn import Ending, State
from daimon.cli import attach, bill, exits, screen, slash, terminal
from daimon.cli.history import History
from daimon.cli.interrupt import Interrupt
from daimon.cli.reach import Line, gateway
from daimon.cli.seen import Seen
from daimon.cli.speech import HANG, Speech, answers, misread, pick, question
from daimon.cli.talk import Exchange, Talk
from daimon.cli.wrap import fill
from daimon.gateway.answers import Trace
from daimon.kernel import budget, words
from daimon.kernel.feed import Spoken
from daimon.kernel.questions import OpenQuestion
from daimon.observe import trace as traces

MOST_LATE = 5
"""Answers of a time when no chat was open that are shown."""


def converse(given: Path | None, text: str | None, conversation: str, as_json: bool) -> None:
    home = homes.home_at(given)
    with gateway(home) as line, Interrupt() as interrupt, Talk(line, conversation, interrupt) as talk:
        if text is not None:
            code = _one(talk, text, as_json)
        elif sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            keyboard = terminal.Keyboard(History(home.path / "chat_history"), talk, interrupt)
            screen.say(_greeting(line, conversation), "dim")
            code = _at_terminal(talk, keyboard, Seen(home.path / "chat_seen.json", conversation))
        else:
            code = _from_pipe(talk, as_json)
    sys.exit(code)


def _one(talk: Talk, text: str, as_json: bool) -> int:
    chat = _Chat(talk, as_json, is_live=sys.stdout.isatty() and not as_json)
    code = chat.take(text, attach.named_in(text))
    if chat.waiting is not None and not as_json:
        screen.remark(f"answer with: daimon answer {chat.waiting.question.to} …")
    return code


def _from_pipe(talk: Talk, as_json: bool) -> int:
    chat = _Chat(talk, as_json, is_live=False)
    return max((chat.take(text) for text in terminal.piped()), default=exits.OK)


def _at_terminal(talk: Talk, keyboard: terminal.Keyboard, seen: Seen) -> int:
    chat = _Chat(talk, as_json=False, is_live=True)
    _catch_up(talk, seen.last())
    _ask(chat, keyboard)
    for text in keyboard.messages():
        chat.expect(keyboard.asked)
        try:
            if not _obeyed(chat, text):
                break
        except DaimonError as error:
            screen.remark(fill(str(error)), "red")
        except KeyboardInterrupt:
            screen.remark("(left waiting; its answer will appear here)")
        screen.say("")
        _ask(chat, keyboard)
        seen.mark(datetime.now(UTC))
    seen.mark(datetime.now(UTC))
    return exits.OK


def _ask(chat: "_Chat", keyboard: terminal.Keyboard) -> None:
    if chat.ask():
        screen.say("")
    keyboard.is_asking, keyboard.asked = chat.is_asking, None


def _catch_up(talk: Talk, since: datetime | None) -> None:
    """What was answered while no chat was open."""
    ended = () if since is None else talk.ended_since(since)
    told = [(words.said(trace.event.body), text) for trace in ended if (text := traces.reply(trace.turn, trace.steps))]
    if len(told) > MOST_LATE:
        screen.say(fill(f"  · {len(told) - MOST_LATE} earlier answers are not shown; `daimon turns` lists them", HANG), "dim")
    for about, text in told[-MOST_LATE:]:
        screen.say(fill(answers(about), HANG), "dim")
        screen.say(f"{fill(text)}\n")
    talk.known += tuple(f"{trace.turn.id}:" for trace in ended)


def _obeyed(chat: "_Chat", text: str) -> bool:
    """False: the person leaves."""
    is_answer = chat.is_answer(text)
    if chat.is_settled():
        chat.put_aside()
        screen.remark("(the question was settled in the meantime)")
        if is_answer:
            screen.remark(fill("(nothing was sent; `/say TEXT` sends it as a message)"))
            return True
    match slash.Line(text) if is_answer else slash.read(text):
        case slash.Leave():
            return False
        case slash.Explain(text=told):
            screen.say("\n".join(fill(line, HANG) for line in told.splitlines()), "dim")
        case slash.Say(text=said):
            chat.put_aside()
            chat.take(said, attach.named_in(said))
        case slash.Line(text=line):
            chat.take(line, () if chat.is_asking else attach.named_in(line))
    return True


def _greeting(line: Line, conversation: str) -> str:
    status = line.client.status()
    told = [f"Daimon {status.version}, model {status.model}, conversation {conversation}."]
    if line.is_own:
        told.append("No gateway was running; this one ends with the chat, and `daimon up` keeps one running.")
    told.append("Ctrl-C stops a turn, Ctrl-D leaves, /help lists what else there is. @path sends a file along.")
    return "\n".join(map(fill, told)) + "\n"


@dataclass(frozen=True, slots=True)
class _Waiting:
    exchange: Exchange
    question: OpenQuestion
    speech: Speech | None
    is_put_off: bool = False


class _Chat:
    """Takes messages, one after the other: each is a new one, or the answer to the question that the last one led to."""

    def __init__(self, talk: Talk, as_json: bool, is_live: bool) -> None:
        self._talk = talk
        self._as_json = as_json
        self._is_live = is_live
        self._put_off: set[StepRef] = set()
        """What was asked and is not asked again."""
        self.waiting: _Waiting | None = None

    @property
    def is_asking(self) -> bool:
        """Is the next line an answer, whatever it says?"""
        return self.waiting is not None and not self.waiting.is_put_off

    def is_answer(self, text: str) -> bool:
        """Does it choose one of the options that there are?"""
        return self.waiting is not None and bool(self.waiting.question.question.options) and self._picked(text) is not None

    def ask(self) -> bool:
        """Shows the oldest open question of the conversation, unless one waits already. True if it showed something."""
        if self.is_asking:
            return False
        found = self._talk.questions()
        for open_question in found:
            if open_question.to not in self._put_off and self.expect(open_question):
                self._show(open_question, None)
                if self.waiting is not None and self.waiting.is_put_off:
                    self._put_off.add(open_question.to)
                    self._say_put_off(open_question)
                return True
        if self.waiting is None:
            self.expect(next((open_question for open_question in found if open_question.to in self._put_off), None))
        return False

    def expect(self, asked: OpenQuestion | None) -> bool:
        """The next line may answer this. False if nobody can say what it belongs to."""
        with suppress(DaimonError):
            if asked is not None:
                exchange, is_put_off = self._talk.resume(asked)
                self.waiting = _Waiting(exchange, asked, Speech() if self._is_live else None, is_put_off)
                self._talk.known += (f"{asked.to}:",)
                return True
        return False

    def is_settled(self) -> bool:
        """Is there no need to answer what waits, because somebody else did, or time did?"""
        return self.waiting is not None and not self._talk.is_open(self.waiting.question)

    def put_aside(self) -> None:
        """The next line is a message. What is open stays open, and is asked again after it."""
        self.waiting = None

    def take(self, text: str, files: Sequence[Path] = ()) -> int:
        """Returns the exit code that it deserves."""
        waiting = self.waiting if self.is_asking or self.is_answer(text) else None
        speech = (waiting.speech if waiting else Speech()) if self._is_live else None
        exchange = self._answered(waiting, text) if waiting else self._said(text, files)
        if exchange is None:
            return exits.BAD_INPUT
        self.waiting = None
        was_stopped = self._follow(exchange, speech)
        trace, asked = exchange.result()
        self._tell(trace, asked, speech)
        self._wait(exchange, asked, speech, waiting)
        self._talk.known += tuple(f"{question.to}:" for question in asked) if trace.turn.ending is None else (f"{trace.turn.id}:",)
        return exits.INTERRUPTED if was_stopped else exits.FAILED if trace.turn.state is State.FAILED else exits.OK

    def _wait(self, exchange: Exchange, asked: tuple[OpenQuestion, ...], speech: Speech | None, answered: _Waiting | None) -> None:
        """What is still open after its answer was put off."""
        put_off = [q for q in asked if answered is not None and q.to == answered.question.to]
        self._put_off.update(q.to for q in put_off)
        fresh = [q for q in asked if q.to not in self._put_off]
        if fresh:
            self.waiting = _Waiting(exchange, fresh[0], speech)
            if not self._as_json:
                self._show(fresh[0], speech)
        elif put_off:
            self.waiting = _Waiting(exchange, put_off[0], speech, is_put_off=True)
            if not self._as_json:
                self._say_put_off(put_off[0])

    def _said(self, text: str, files: Sequence[Path]) -> Exchange:
        parts = tuple(attach.part(file, self._talk.upload) for file in files)
        if self._is_live:
            for part in parts:
                screen.say(f"  · with {_named(part)}", "dim")
        return self._talk.say(text, parts)

    def _picked(self, text: str) -> tuple[str, str] | None:
        return None if self.waiting is None else pick(self.waiting.question.question, text)

    def _answered(self, waiting: _Waiting, text: str) -> Exchange | None:
        picked = pick(waiting.question.question, text)
        if picked is None:
            instead = "; `/say TEXT` sends it as a message instead" if self._is_live else ""
            self._remark(f"please choose one of: {' / '.join(waiting.question.question.options)}{instead}")
            return None
        if fault := misread(waiting.question.question, *picked):
            self._remark(f"that was not understood: {fault}")
            return None
        waiting.exchange.answer(waiting.question.to, *picked)
        return waiting.exchange

    def _follow(self, exchange: Exchange, speech: Speech | None) -> bool:
        """Until it rests. Ctrl-C stops the turn and waits for its end; a second one does not wait. True if it was stopped."""
        was_stopped = False
        while True:
            try:
                for update in exchange:
                    shown = self._talk.news(update) if isinstance(update, Spoken) else update
                    if speech is not None and shown is not None:
                        speech.show(shown)
            except KeyboardInterrupt:
                if was_stopped or not exchange.stop():
                    raise
                was_stopped = True
            else:
                return was_stopped
            finally:
                if speech is not None:
                    speech.end_line()

    def _tell(self, trace: Trace, asked: tuple[OpenQuestion, ...], speech: Speech | None) -> None:
        if self._as_json:
            screen.emit(_as_json(trace, asked))
            return
        if speech is not None:
            speech.rest()
        reply = traces.reply(trace.turn, trace.steps)
        if reply and not (speech is not None and speech.has_shown(trace.steps) and trace.turn.ending is Ending.ANSWERED):
            screen.say(fill(reply) if self._is_live else reply)
        if remark := _remark(trace, bool(asked)):
            self._remark(remark)
        if self._is_live and trace.turn.ending is not None and (took := bill.line(trace.turn, trace.steps)):
            screen.say(fill(f"  {took}", "  "), "dim")

    def _show(self, asked: OpenQuestion, speech: Speech | None) -> None:
        text = question(asked) if speech is None else speech.question(asked)
        screen.say(fill(text) if self._is_live else text, "yellow")

    def _say_put_off(self, asked: OpenQuestion) -> None:
        others = " or ".join(f"`{option}`" for option in asked.question.options if option != budget.WAIT)
        self._remark(f"(it waits; {others} here, or later)")

    def _remark(self, text: str) -> None:
        screen.remark(fill(text) if self._is_live else text)


def _named(part: Image | File) -> str:
    match part:
        case Image(description=name, media_type=media_type):
            return f"{name}, {media_type}"
        case File(name=name, media_type=media_type, size=size):
            return f"{name}, {media_type}, {size:,} bytes"


def _remark(trace: Trace, is_asking: bool) -> str:
    match trace.turn.ending:
        case Ending.SILENT:
            return "(silence)"
        case Ending.STOPPED:
            return "(stopped; what it had said so far stands in the trace)"
        case Ending.INTERRUPTED:
            return "(interrupted)"
        case None if not is_asking:
            return f"(it waits{_until(trace.steps)}; `daimon trace {trace.turn.id}` shows for what)"
        case _:
            return ""


def _until(steps: Sequence[Step]) -> str:
    last = next((step.body.decision for step in reversed(steps) if isinstance(step.body, Decided)), None)
    moments = [wait.until for wait in last.waits if wait.until is not None] if isinstance(last, Park) else []
    return f" until {min(moments).astimezone():%Y-%m-%d %H:%M:%S} at the latest" if moments else ""


def _as_json(trace: Trace, asked: tuple[OpenQuestion, ...]) -> bytes:
    return encode(
        dict[str, object],
        {
            "event": trace.event.id,
            "turn": trace.turn.id,
            "state": trace.turn.state,
            "ending": trace.turn.ending,
            "reply": traces.reply(trace.turn, trace.steps),
            "questions": [{"to": str(q.to), "text": q.question.text, "options": q.question.options} for q in asked],
            "steps": trace.steps,
        },
    )
