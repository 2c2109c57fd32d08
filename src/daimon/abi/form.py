"""The form of an answer about words that must not be seen themselves.

Whoever gives the answer has read a stranger's text and may say whatever that text wants. So an answer is one JSON object with one key,
`{"answer": …}`, read strictly: what is not of the form is no answer, and none of it is passed on. `null` means that it cannot be told.

A *closed* form (all but `Words`) limits how much an answer can carry, whoever wrote it:

    YesNo     1 bit
    Choice    the logarithm of the number of options: 4 bits for 16; the words of an option are the asker's own
    Date      about 17 bits for a day, 28 with a time to the minute, 39 with an offset
    Number    about 50 bits: at most 15 digits
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, NoReturn

from pydantic import Field, JsonValue

from daimon.abi.errors import BadInput

MOST_DIGITS = 15
MOST_CHARACTERS = 4_000
_ROOM = 200
"""For the braces, the key and escapes of an answer that is not text."""
_DATE = re.compile(r"(?:19|20|21)\d\d-\d\d-\d\d(?:T\d\d:\d\d(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class YesNo:
    kind: Literal["yes_no"] = "yes_no"


@dataclass(frozen=True, slots=True)
class Number:
    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True)
class Date:
    kind: Literal["date"] = "date"


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[str, ...]
    kind: Literal["choice"] = "choice"


@dataclass(frozen=True, slots=True)
class Words:
    most: int
    """Characters."""
    kind: Literal["text"] = "text"


Form = Annotated[YesNo | Number | Date | Choice | Words, Field(discriminator="kind")]


def is_closed(form: Form) -> bool:
    return not isinstance(form, Words)


def read(form: Form, text: str) -> JsonValue:
    """The answer. Raises BadInput, which says what was expected and repeats nothing of what was found."""
    if len(text) > _ROOM + 6 * MOST_CHARACTERS:
        raise BadInput(f"the answer is far too long, expected {expected(form)}")
    try:
        whole = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise BadInput(f"the answer is not JSON, expected {expected(form)}") from None
    if not isinstance(whole, dict) or whole.keys() != {"answer"}:
        raise BadInput(f"the answer is not an object with the one key `answer`, expected {expected(form)}")
    answer: JsonValue = whole["answer"]
    if answer is not None and not _fits(form, answer):
        raise BadInput(f"the answer is something else than {expected(form)}")
    return answer


def expected(form: Form) -> str:
    match form:
        case YesNo():
            return '{"answer": true} or {"answer": false}'
        case Number():
            return f'{{"answer": 12.5}}, a number of at most {MOST_DIGITS} digits'
        case Date():
            return '{"answer": "2026-01-31"} or {"answer": "2026-01-31T09:00+01:00"}, a day or a moment'
        case Choice(options):
            return f'{{"answer": …}} with one of {", ".join(json.dumps(option, ensure_ascii=False) for option in options)}'
        case Words(most):
            return f'{{"answer": "…"}}, a text of at most {most} characters'


def _fits(form: Form, answer: JsonValue) -> bool:
    match form:
        case YesNo():
            return isinstance(answer, bool)
        case Number():
            return isinstance(answer, int | float) and not isinstance(answer, bool) and _is_short(answer)
        case Date():
            return isinstance(answer, str) and _is_date(answer)
        case Choice(options):
            return answer in options
        case Words(most):
            return isinstance(answer, str) and len(answer) <= most


def _is_short(number: float) -> bool:
    """Zeros before and after the point count: an exponent would carry something too."""
    if not abs(number) < 10**MOST_DIGITS:
        return False
    digits = f"{Decimal(repr(number)).normalize():f}".lstrip("-").replace(".", "")
    return len(digits) <= MOST_DIGITS


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
