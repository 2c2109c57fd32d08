"""A message in pieces, as channels need it: the text cut, the question with it, then the files, each by itself.

Pure, as `Channel.pieces` must be. A channel says how long a piece may be and how it is rendered; the rest is the same for all.
"""

from dataclasses import dataclass, replace

from daimon.abi.channel import Attachment, Choice, Piece
from daimon.abi.event import Asks, Said
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.gateway.codes import choice_code
from daimon.gateway.notation.split import Measure, Render, split


@dataclass(frozen=True, slots=True)
class Form:
    """How a channel writes."""

    longest: int
    render: Render
    measure: Measure = len
    has_buttons: bool = False


def cut(message: Outgoing, form: Form) -> tuple[Piece, ...]:
    """Choices stand on the last piece of the text, so that whoever takes one has read it all."""
    asks = asks_of(message)
    text = text_of(message)
    if asks is not None and not (form.has_buttons and asks.options):
        text = f"{text}\n\n{answered_by_code_text(asks)}"
    pieces = [Piece(said) for said in split(text, form.longest, form.render, form.measure)]
    if form.has_buttons and pieces:
        pieces[-1] = replace(pieces[-1], choices=choices_of(message))
    return (*pieces, *(Piece(attachment=each) for each in attachments_of(message)))


def text_of(message: Outgoing) -> str:
    """Markdown."""
    return "\n\n".join(part.text for part in _parts(message) if isinstance(part, Text))


def attachments_of(message: Outgoing) -> tuple[Attachment, ...]:
    return tuple(part for part in _parts(message) if not isinstance(part, Text))


def asks_of(message: Outgoing) -> Asks | None:
    return message.content.asks if isinstance(message.content, Said) else None


def choices_of(message: Outgoing) -> tuple[Choice, ...]:
    asks = asks_of(message)
    return () if asks is None else tuple(Choice(choice_code(asks.to, n), option) for n, option in enumerate(asks.options, 1))


def answered_by_code_text(asks: Asks) -> str:
    """How to answer where there are no buttons, in Markdown."""
    if not asks.options:
        return "Answer in your own words."
    each = [f"`{choice_code(asks.to, n)}` for {option}" for n, option in enumerate(asks.options, 1)]
    return f"Answer {', '.join(each)}."


def _parts(message: Outgoing) -> tuple[Text | Attachment, ...]:
    return message.content.parts if isinstance(message.content, Said) else ()
