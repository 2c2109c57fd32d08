"""An exchange as it is shown: tokens as they come, tool calls as cards, what went wrong as dim lines, each text once.
Lines break between words.

What streams by may have holes or start again. The recorded reply settles it: what was shown of it stands, what is missing is added, and
what does not fit is shown again from its beginning. Nothing that was shown is ever taken back or drawn over, except the sign of life: it
stands on a line of its own while nothing else comes, and only where a terminal can take it back.
"""

from collections.abc import Sequence
from datetime import datetime

from daimon.abi.message import Part
from daimon.abi.step import (
    Answered,
    Asked,
    Decided,
    Granted,
    Happened,
    Intended,
    ModelFailed,
    Park,
    Raised,
    Replied,
    Routed,
    Short,
    Started,
    Step,
)
from daimon.abi.tool import Question
from daimon.cli import bill, screen
from daimon.cli.card import Cards, Line
from daimon.cli.talk import Back, Lost, News, Quiet
from daimon.cli.wrap import Wrap, fill
from daimon.kernel import budget, offers, verdict, words
from daimon.kernel.feed import Printed, Recorded, Token
from daimon.kernel.questions import OpenQuestion

MOST_ABOUT = 50
LEAST_MESSAGE = 20
MOST_LINES = 2
"""Of a notice; the trace has all of it."""
POOR = "nobody else can, though it "
"""How a router's reason begins when the model lacks something."""
HANG = "    "
MOST_SAME = 3
"""How often the same failure is shown; then it is counted."""


class Speech:
    """Shows one exchange on a terminal."""

    def __init__(self) -> None:
        self._cards = Cards()
        self._step = -1
        self._of = ""
        self._shown = ""
        """Of the reply under way."""
        self._wrap = Wrap()
        self._style: str | None = None
        self._is_hinting = False
        self._poor: set[str] = set()
        self._outage = ""
        """Why no model could be asked."""
        self._has_failed = False
        self._settled: set[int] = set()
        self._short: Short | None = None
        self._failure = ""
        self._failures = 0

    def show(self, update: Token | Printed | Recorded | News | Lost | Back | Quiet) -> None:
        if isinstance(update, Quiet):
            self._hint()
            return
        self._take_back()
        match update:
            case Token(of="text" | "reasoning"):
                self._token(update)
            case Printed(step=step, text=text):
                self._draw(self._cards.printed(step, text))
            case Recorded(step=step):
                self._recorded(step)
            case News(question=OpenQuestion(question=asked)):  # whoever reads the next line asks it
                self._dim(f"another question waits: {words.short(asked.text)}")
            case News(about=about, text=text):
                self.paragraph(answers(about), "dim")
                self.paragraph(text)
            case Lost():
                self._begin(-1)  # what comes after it is told from its beginning
                self._dim("the gateway went away; waiting for it")
            case Back():
                self._dim("it is back")
            case Token():
                pass

    def has_shown(self, steps: Sequence[Step]) -> bool:
        """Was the last reply among these shown in full?"""
        return max((step.n for step in steps if isinstance(step.body, Replied)), default=-1) in self._settled

    def paragraph(self, text: str, style: str | None = None) -> None:
        self.rest()
        if text:
            screen.say(fill(text, HANG if text.startswith("  · ") else ""), style)

    def rest(self) -> None:
        """Something else is said now: what comes next stands under nothing that was shown."""
        self.end_line()
        self._cards.separate()
        self._end_failures()

    def end_line(self) -> None:
        self._take_back()
        if self._wrap.is_mid_line:
            screen.say(self._wrap.flush(), self._style)
        self._wrap = Wrap()

    def question(self, asked: OpenQuestion) -> str:
        """Without what was told just before it."""
        text = question(asked)
        return text.replace(f" {self._outage}", "") if self._outage and self._has_failed else text

    def _hint(self) -> None:
        if not self._is_hinting and not self._wrap.is_mid_line:
            self._is_hinting = screen.hint(f"  · {'working' if self._cards.is_open else 'thinking'} … (Ctrl-C stops)")

    def _take_back(self) -> None:
        if self._is_hinting:
            screen.take_back()
        self._is_hinting = False

    def _dim(self, text: str) -> None:
        self.paragraph(f"  · {text}", "dim")

    def _token(self, token: Token) -> None:
        if token.step != self._step or token.offset == 0:
            self._begin(token.step)
        if token.of != self._of:
            self.end_line()
            self._of = token.of
        if token.of == "text":
            self._shown += token.text
        self._write(token.text, None if token.of == "text" else "dim")

    def _begin(self, step: int) -> None:
        self.end_line()
        self._step, self._of, self._shown = step, "", ""

    def _recorded(self, step: Step) -> None:
        match step.body:
            case Replied(parts=parts, remarks=remarks):
                self._settle(step.n, parts)
                for remark in remarks:
                    self.paragraph(f"  · {remark}", "dim")
            case Intended():
                self._draw(self._cards.begin(step.n, step.body))
            case Started(intent=intent, question=question):
                self._draw(self._cards.wait(intent, "goes on outside" if question is None else "waits for your answer"))
            case Happened():
                self._draw(self._cards.end(step.body))
            case _:
                self._remarked(step)

    def _remarked(self, step: Step) -> None:
        match step.body:
            case ModelFailed():
                self._failed(step.body)
            case Routed(chosen=chosen, reason=reason) if reason.startswith(POOR) and chosen not in self._poor:
                self._poor.add(chosen)
                lack = reason.removeprefix(POOR)
                self._dim(f"{chosen} {lack}{'; it was told that there is one' if 'images' in lack else ''}")
            case Short():
                self._short = step.body
            case Asked():
                self._asked(step.body)
            case Decided(decision=Park()) if self._short is not None:
                self.paragraph(f"{budget.reached(self._short)} It waits.")
                self._short = None
            case Raised(scope=scope, more=more):
                self._dim(f"{bill.amount(more)} more allowed for {budget.NAMES[scope]}")
            case Granted(grant=grant):
                self._dim(f"granted: {offers.words(grant)}; `daimon grants revoke {grant.id}` takes it back")
            case Answered(choice=choice, event=None):
                self._dim(f"nobody answered in time, so: {choice or 'no answer'}")
            case _:
                pass

    def _asked(self, asked: Asked) -> None:
        for n in asked.calls:
            waits = "waits a moment, in case you want to stop it" if asked.question.type == "undo" else "waits for your permission"
            self._draw(self._cards.wait(n, waits))
        if asked.question.type == "money":  # it says which limit was met
            self._short = None

    def _failed(self, failed: ModelFailed) -> None:
        """A failure of nobody in particular is told by the question that follows, a stopped reply by the end of the turn."""
        self._begin(self._step)
        if not failed.model:
            self._outage = failed.message
        if not failed.model or failed.code == "stopped":
            return
        later = f"; the next try is at {failed.retry_at.astimezone():%H:%M:%S}" if failed.retry_at is not None else ""
        what = f"{failed.model} failed ({failed.code}): "
        told = f"{what}{words.short(failed.message, max(_room() - len(what) - len(later), LEAST_MESSAGE))}{later}"
        self._has_failed = True
        if told != self._failure:
            self._dim(told)
            self._failure, self._failures = told, 0
        self._failures += 1
        if 1 < self._failures <= MOST_SAME:
            screen.say(fill(f"  · {told}", HANG), "dim")

    def _end_failures(self) -> None:
        more, self._failure, self._failures = self._failures - MOST_SAME, "", 0
        if more > 0:
            screen.say(f"  · and {more} more times", "dim")

    def _settle(self, n: int, parts: Sequence[Part]) -> None:
        text = words.reply(parts)
        if text.startswith(self._shown):
            if self._of == "reasoning":
                self.end_line()
            self._write(text[len(self._shown) :])
        elif text.strip() != self._shown.strip():
            self.paragraph(text)
        self._begin(n)
        self._settled.add(n)
        self._cards.count(parts)

    def _draw(self, lines: Sequence[Line]) -> None:
        self.end_line()
        self._end_failures()
        for line in lines:
            screen.say(line.text, line.style)

    def _write(self, text: str, style: str | None = None) -> None:
        if text:
            self._cards.separate()
            self._end_failures()
            self._style = style
            screen.say(self._wrap.feed(text), style, end="")


def _room() -> int:
    """What a notice may hold so that it fits, wherever its words break."""
    return MOST_LINES * (screen.out().width - 2 * len(HANG))


def answers(about: str) -> str:
    """Above something that comes late: what it is about."""
    return f"  · on “{words.short(about, MOST_ABOUT)}”:" if about.strip() else ""


def question(asked: OpenQuestion) -> str:
    text, options = asked.question.text, asked.question.options
    between = "\n" if "\n" in text else " "
    return f"{text}{between}[{' / '.join(options)}]" if options else text


def pick(asked: Question, text: str) -> tuple[str, str] | None:
    """The option that a line chooses, and what is said besides; None if it chooses none."""
    if not asked.options:
        return text, ""
    first, _, rest = text.partition(" ")
    for said, besides in ((text, ""), (first.rstrip(",:."), rest.strip())):
        for option in asked.options:
            if option.casefold() == said.casefold():
                return option, besides
    return None


def misread(asked: Question, choice: str, besides: str) -> str:
    """Why this answer would not be understood, and so count as no; empty if it would."""
    if asked.type != "authorise":
        return ""
    return verdict.read(asked, choice, besides, datetime.now().astimezone().date()).fault
