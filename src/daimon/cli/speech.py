"""An exchange as it is shown: tokens as they come, tool calls as short dim lines, each text once.

What streams by may have holes or start again. The recorded reply settles it: what was shown of it stands, what is missing is added, and
what does not fit is shown again from its beginning.
"""

from collections.abc import Sequence

from daimon.abi.step import Happened, Intended, ModelFailed, Replied, Step
from daimon.abi.tool import Question
from daimon.cli import screen
from daimon.cli.talk import Lost
from daimon.kernel.feed import Recorded, Spoken, Token
from daimon.kernel.questions import OpenQuestion
from daimon.observe import words


class Speech:
    """Shows one exchange on a terminal."""

    def __init__(self) -> None:
        self._step = -1
        self._shown = ""
        self._is_mid_line = False
        self._settled: set[int] = set()

    def show(self, update: Token | Recorded | Spoken | Lost) -> None:
        match update:
            case Token(of="text"):
                self._token(update)
            case Token(of="reasoning", text=text):
                self._write(text, "dim")
            case Recorded(step=step):
                self._recorded(step)
            case Spoken(said=said):
                self.paragraph(words.joined(said.parts))
            case Lost():
                self.paragraph("  · the gateway went away; waiting for it", "dim")
            case Token():
                pass

    def has_shown(self, steps: Sequence[Step]) -> bool:
        """Was the last reply among these shown in full?"""
        return max((step.n for step in steps if isinstance(step.body, Replied)), default=-1) in self._settled

    def paragraph(self, text: str, style: str | None = None) -> None:
        self.end_line()
        screen.say(text, style)

    def end_line(self) -> None:
        if self._is_mid_line:
            screen.say("")
        self._is_mid_line = False

    def _token(self, token: Token) -> None:
        if token.step != self._step or (token.offset == 0 and self._shown):
            self.end_line()
            self._step, self._shown = token.step, ""
        self._shown += token.text
        self._write(token.text)

    def _recorded(self, step: Step) -> None:
        match step.body:
            case Replied(parts=parts):
                self._settle(step.n, words.reply(parts))
            case ModelFailed(model=model, message=message):
                self.paragraph(f"  · {model} failed: {words.short(message, 100)}", "dim")
            case Intended(tool=tool, arguments=arguments):
                self.paragraph(f"  · {words.short(words.call(tool, arguments), 100)}", "dim")
            case Happened(code=code, result=result) if code:
                self.paragraph(f"  · {result.tool}: {code}", "dim")
            case _:
                pass

    def _settle(self, n: int, text: str) -> None:
        shown = self._shown if n == self._step else ""
        if text.startswith(shown):
            self._write(text[len(shown) :])
        elif text.strip() != shown.strip():
            self.paragraph(text)
        self.end_line()
        self._step, self._shown = n, text
        self._settled.add(n)

    def _write(self, text: str, style: str | None = None) -> None:
        if text:
            screen.say(text, style, end="")
            self._is_mid_line = not text.endswith("\n")


def question(asked: OpenQuestion) -> str:
    options = f" [{' / '.join(asked.question.options)}]" if asked.question.options else ""
    return f"{asked.question.text}{options}"


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
