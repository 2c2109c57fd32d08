"""`daimon chat`: one message, a terminal chat, or one message per line of stdin.

On a terminal tokens are shown as they come. Into a pipe, or as JSON, only what is final: the reply as the journal holds it. After a turn
that asks something, the next line is its answer.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from daimon import config
from daimon.abi.codec import encode
from daimon.abi.errors import DaimonError
from daimon.abi.turn import Ending, State
from daimon.cli import exits, screen, terminal
from daimon.cli.reach import Line, gateway
from daimon.cli.speech import Speech, pick, question
from daimon.cli.talk import Exchange, Talk
from daimon.gateway.answers import Trace
from daimon.kernel.questions import OpenQuestion
from daimon.observe import trace as traces


def converse(given: Path | None, text: str | None, conversation: str, as_json: bool) -> None:
    home = config.home_at(given)
    with gateway(home) as line, Talk(line, conversation) as talk:
        if text is not None:
            code = _one(talk, text, as_json)
        elif sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            code = _at_terminal(line, talk, home, conversation)
        else:
            code = _from_pipe(talk, as_json)
    sys.exit(code)


def _one(talk: Talk, text: str, as_json: bool) -> int:
    chat = _Chat(talk, as_json, is_live=sys.stdout.isatty() and not as_json)
    code = chat.take(text)
    if chat.waiting is not None and not as_json:
        screen.remark(f"answer with: daimon answer {chat.waiting.question.to} …")
    return code


def _from_pipe(talk: Talk, as_json: bool) -> int:
    chat = _Chat(talk, as_json, is_live=False)
    return max((chat.take(text) for text in terminal.piped()), default=exits.OK)


def _at_terminal(line: Line, talk: Talk, home: config.Home, conversation: str) -> int:
    chat = _Chat(talk, as_json=False, is_live=True)
    keyboard = terminal.Keyboard(home.path / "chat_history", talk)
    screen.say(_greeting(line, conversation), "dim")
    with keyboard.remembering():
        for text in keyboard.lines():
            try:
                chat.take(text)
            except DaimonError as error:
                screen.remark(str(error), "red")
            except KeyboardInterrupt:
                screen.remark("(left waiting; its answer will appear here)")
            keyboard.known += chat.known
            screen.say("")
    return exits.OK


def _greeting(line: Line, conversation: str) -> str:
    status = line.client.status()
    own = "\nNo gateway was running; this one ends with the chat, and `daimon up` keeps one running." if line.is_own else ""
    return (
        f"Daimon {status.version}, model {status.model}, conversation {conversation}.{own}\n"
        "Ctrl-C stops a turn, Ctrl-D leaves, a \\ at the end of a line goes on in the next.\n"
    )


@dataclass(frozen=True, slots=True)
class _Waiting:
    exchange: Exchange
    question: OpenQuestion


class _Chat:
    """Takes lines, one after the other: each is a message, or the answer to the question that the last one led to."""

    def __init__(self, talk: Talk, as_json: bool, is_live: bool) -> None:
        self._talk = talk
        self._as_json = as_json
        self._is_live = is_live
        self.waiting: _Waiting | None = None
        self.known: tuple[str, ...] = ()
        """How the keys of messages begin that the last line led to and that were shown: the reply, or the questions."""

    def take(self, text: str) -> int:
        """Returns the exit code that it deserves."""
        exchange = self._answered(self.waiting, text) if self.waiting else self._talk.say(text)
        if exchange is None:
            return exits.BAD_INPUT
        self.waiting = None
        speech = Speech() if self._is_live else None
        was_stopped = _follow(exchange, speech)
        trace, asked = exchange.result()
        self._tell(trace, asked, is_shown=speech is not None and speech.has_shown(trace.steps))
        self.waiting = _Waiting(exchange, asked[0]) if asked else None
        self.known = tuple(f"{question.to}:" for question in asked) if trace.turn.ending is None else (f"{trace.turn.id}:",)
        return exits.INTERRUPTED if was_stopped else exits.FAILED if trace.turn.state is State.FAILED else exits.OK

    def _answered(self, waiting: _Waiting, text: str) -> Exchange | None:
        picked = pick(waiting.question.question, text)
        if picked is None:
            screen.remark(f"please choose one of: {' / '.join(waiting.question.question.options)}")
            return None
        waiting.exchange.answer(waiting.question.to, *picked)
        return waiting.exchange

    def _tell(self, trace: Trace, asked: tuple[OpenQuestion, ...], is_shown: bool) -> None:
        if self._as_json:
            screen.emit(_as_json(trace, asked))
            return
        reply = traces.reply(trace.turn, trace.steps)
        if reply and not (is_shown and trace.turn.ending is Ending.ANSWERED):
            screen.say(reply)
        for open_question in asked[:1]:
            screen.say(question(open_question), "yellow")
        if remark := _remark(trace, bool(asked)):
            screen.remark(remark)


def _follow(exchange: Exchange, speech: Speech | None) -> bool:
    """Until it rests. Ctrl-C stops the turn and waits for its end; a second one does not wait. True if it was stopped."""
    try:
        for update in exchange:
            if speech is not None:
                speech.show(update)
    except KeyboardInterrupt:
        if not exchange.stop():
            raise
    else:
        return False
    if speech is not None:
        speech.end_line()
    for _ in exchange:
        pass
    return True


def _remark(trace: Trace, is_asking: bool) -> str:
    match trace.turn.ending:
        case Ending.SILENT:
            return "(silence)"
        case Ending.STOPPED | Ending.INTERRUPTED:
            return f"({trace.turn.ending})"
        case None if not is_asking:
            return f"(it waits; `daimon trace {trace.turn.id}` shows for what)"
        case _:
            return ""


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
