"""`daimon chat`: one message, a terminal chat, or one message per line of stdin.

On a terminal tokens are shown as they come, tool calls as cards, and what a turn took under it. Into a pipe, or as JSON, only what is
final: the reply as the journal holds it. After a turn that asks something, the next line is its answer. Files are taken from what a person
wrote in a message of their own, never from lines of stdin: those may be a stranger's words.
"""

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daimon import config
from daimon.abi.codec import encode
from daimon.abi.errors import DaimonError
from daimon.abi.message import File, Image
from daimon.abi.step import Decided, Park, Step
from daimon.abi.turn import Ending, State
from daimon.cli import attach, bill, exits, screen, terminal
from daimon.cli.history import History
from daimon.cli.interrupt import Interrupt
from daimon.cli.reach import Line, gateway
from daimon.cli.speech import Speech, pick, question
from daimon.cli.talk import Exchange, Talk
from daimon.gateway.answers import Trace
from daimon.kernel.questions import OpenQuestion
from daimon.observe import trace as traces


def converse(given: Path | None, text: str | None, conversation: str, as_json: bool) -> None:
    home = config.home_at(given)
    with gateway(home) as line, Interrupt() as interrupt, Talk(line, conversation, interrupt) as talk:
        if text is not None:
            code = _one(talk, text, as_json)
        elif sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            keyboard = terminal.Keyboard(History(home.path / "chat_history"), talk, interrupt)
            screen.say(_greeting(line, conversation), "dim")
            code = _at_terminal(_Chat(talk, as_json=False, is_live=True), keyboard)
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


def _at_terminal(chat: "_Chat", keyboard: terminal.Keyboard) -> int:
    for text in keyboard.messages():
        try:
            chat.take(text, () if chat.waiting else attach.named_in(text))
        except DaimonError as error:
            screen.remark(str(error), "red")
        except KeyboardInterrupt:
            screen.remark("(left waiting; its answer will appear here)")
        keyboard.known += chat.known
        screen.say("")
    return exits.OK


def _greeting(line: Line, conversation: str) -> str:
    status = line.client.status()
    told = [f"Daimon {status.version}, model {status.model}, conversation {conversation}."]
    if line.is_own:
        told.append("No gateway was running; this one ends with the chat, and `daimon up` keeps one running.")
    told.append("Ctrl-C stops a turn, Ctrl-D leaves. @path sends a file along.")
    told.append('A \\ at the end of a line, or """ around several, makes one message of them.')
    return "\n".join(map(_wrapped, told)) + "\n"


def _wrapped(text: str) -> str:
    """Between words, where a terminal would break them. A reply is left as it is: it may be copied."""
    return "\n".join(textwrap.fill(line, screen.out().width, break_on_hyphens=False) for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class _Waiting:
    exchange: Exchange
    question: OpenQuestion
    speech: Speech | None


class _Chat:
    """Takes messages, one after the other: each is a new one, or the answer to the question that the last one led to."""

    def __init__(self, talk: Talk, as_json: bool, is_live: bool) -> None:
        self._talk = talk
        self._as_json = as_json
        self._is_live = is_live
        self.waiting: _Waiting | None = None
        self.known: tuple[str, ...] = ()
        """How the keys of messages begin that the last line led to and that were shown: the reply, or the questions."""

    def take(self, text: str, files: Sequence[Path] = ()) -> int:
        """Returns the exit code that it deserves."""
        speech = (self.waiting.speech if self.waiting else Speech()) if self._is_live else None
        exchange = self._answered(self.waiting, text) if self.waiting else self._said(text, files)
        if exchange is None:
            return exits.BAD_INPUT
        self.waiting = None
        was_stopped = _follow(exchange, speech)
        trace, asked = exchange.result()
        self._tell(trace, asked, speech)
        self.waiting = _Waiting(exchange, asked[0], speech) if asked else None
        self.known = tuple(f"{question.to}:" for question in asked) if trace.turn.ending is None else (f"{trace.turn.id}:",)
        return exits.INTERRUPTED if was_stopped else exits.FAILED if trace.turn.state is State.FAILED else exits.OK

    def _said(self, text: str, files: Sequence[Path]) -> Exchange:
        parts = tuple(attach.part(file, self._talk.upload) for file in files)
        if self._is_live:
            for part in parts:
                screen.say(f"  · with {_named(part)}", "dim")
        return self._talk.say(text, parts)

    def _answered(self, waiting: _Waiting, text: str) -> Exchange | None:
        picked = pick(waiting.question.question, text)
        if picked is None:
            screen.remark(f"please choose one of: {' / '.join(waiting.question.question.options)}")
            return None
        waiting.exchange.answer(waiting.question.to, *picked)
        return waiting.exchange

    def _tell(self, trace: Trace, asked: tuple[OpenQuestion, ...], speech: Speech | None) -> None:
        if self._as_json:
            screen.emit(_as_json(trace, asked))
            return
        if speech is not None:
            speech.rest()
        reply = traces.reply(trace.turn, trace.steps)
        if reply and not (speech is not None and speech.has_shown(trace.steps) and trace.turn.ending is Ending.ANSWERED):
            screen.say(reply)
        for open_question in asked[:1]:
            screen.say(_wrapped(question(open_question)) if self._is_live else question(open_question), "yellow")
        if remark := _remark(trace, bool(asked)):
            screen.remark(remark)
        if self._is_live and trace.turn.ending is not None and (took := bill.line(trace.turn, trace.steps)):
            screen.say(f"  {took}", "dim")


def _follow(exchange: Exchange, speech: Speech | None) -> bool:
    """Until it rests. Ctrl-C stops the turn and waits for its end; a second one does not wait. True if it was stopped."""
    was_stopped = False
    while True:
        try:
            for update in exchange:
                if speech is not None:
                    speech.show(update)
        except KeyboardInterrupt:
            if was_stopped or not exchange.stop():
                raise
            was_stopped = True
        else:
            return was_stopped
        finally:
            if speech is not None:
                speech.end_line()


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
