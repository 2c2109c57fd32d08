"""Answers to questions, as people give them in a chat: a button, a sign on the message, a code with a number, or plain words.

Plain words count only where nothing else could be meant: one question is open that was told in this place, and the whole message is one of
its options, a number, a yes or a no; or it has no options and any text will do. A sign counts on the very message that asks. A yes is the
option that lets go on, a no is the one that stops, else the first, which is the safe one; where a question has no plain yes, a sign says
nothing.

Who may answer what is the kernel's law (`kernel/answering.py`); here it is asked ahead, so that somebody who may not is told so.
"""

import re
from dataclasses import dataclass

from daimon.abi.channel import Shelf
from daimon.abi.errors import NotFound
from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId, StepRef
from daimon.abi.people import Directory
from daimon.abi.ports import Archive
from daimon.gateway.codes import code_of
from daimon.gateway.forwarding import FOR_OWNER
from daimon.kernel.asking import OWNERS
from daimon.kernel.questions import OpenQuestion, open_questions

YES = frozenset(["👍", "✅", "✔", "💯", "👌", "🆗", "yes", "y", "ok", "okay", "sure", "ja"])
NO = frozenset(["👎", "❌", "✖", "🚫", "⛔", "no", "n", "nope", "nein"])
GOES_ON = ("allow", "send", "continue", "retry", "raise", "yes")
STOPS = ("stop", "deny", "no")
UNCLEAR = frozenset({"outcome"})
"""Questions to which a mere yes says nothing: that it happened, or that it should happen again?"""
_NUMBERS = re.compile(r"\d[\d, ]*")
_VARIANT = "\ufe0f"
"""Says that a sign is to be shown in colour."""
_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")


@dataclass(frozen=True, slots=True)
class Deciding:
    archive: Archive
    shelf: Shelf
    directory: Directory

    async def by_code(self, code: str, n: int) -> tuple[OpenQuestion, str] | None:
        """The question with this code, and its option of that number. None: there is none, or more than one."""
        found = [each for each in await open_questions(self.archive, HOME_SPACE) if code_of(each.to) == code.upper()]
        if len(found) != 1:
            return None
        return (found[0], choice) if (choice := _numbered(found[0], n)) else None

    async def by_sign(self, sign: str, where: Address, ref: str) -> tuple[OpenQuestion, str] | None:
        asked = await self.asked_by(where, ref)
        choice = None if asked is None else _plain(asked, sign)
        return None if asked is None or choice is None else (asked, choice)

    async def by_words(self, text: str, where: Address, answers: str = "") -> tuple[OpenQuestion, str] | None:
        """`answers`: what the channel calls the message that this one answers."""
        asked = await self.asked_by(where, answers) if answers else await self._only_one(where)
        choice = None if asked is None else _worded(asked, text)
        return None if asked is None or choice is None else (asked, choice)

    async def asked_by(self, where: Address, ref: str) -> OpenQuestion | None:
        """The open question that this message asks."""
        key = await self.shelf.sent_as(where.channel, where.to, ref)
        turn, _, rest = (key or "").partition(":")
        wanted = f"{turn}:{rest.partition(':')[0]}"
        return next((each for each in await open_questions(self.archive, HOME_SPACE) if str(each.to) == wanted), None)

    async def may_answer(self, who: PrincipalId, asked: OpenQuestion) -> bool:
        if who == OWNER:
            return True
        try:
            turn = await self.archive.turn(asked.to.turn)
        except NotFound:
            return False
        return asked.question.type not in OWNERS and turn.principal == who

    async def _only_one(self, where: Address) -> OpenQuestion | None:
        there = [each for each in await open_questions(self.archive, HOME_SPACE) if await self._was_told(each.to, where)]
        return there[0] if len(there) == 1 else None

    async def _was_told(self, question: StepRef, where: Address) -> bool:
        """Where nobody noted to which of the owner's chats it was forwarded, the one in which the owner spoke last is meant."""
        told = await self.shelf.told_in(question)
        is_forwarded = bool(told) and FOR_OWNER.issuperset(told)
        return where in told or (is_forwarded and where == await self.directory.reach(OWNER))


def _numbered(asked: OpenQuestion, n: int) -> str:
    options = asked.question.options
    return options[n - 1] if 1 <= n <= len(options) else ""


def _worded(asked: OpenQuestion, text: str) -> str | None:
    words, options = " ".join(text.split()), asked.question.options
    if not options:
        return words or None
    if words.isdecimal() and len(words) < 3:
        return _numbered(asked, int(words)) or None
    option, _, rest = words.rstrip(".!").partition(" ")
    whole = next((each for each in options if each.casefold() == words.rstrip(".!").casefold()), None)
    if whole is not None:
        return whole
    is_some = asked.question.type == "authorise" and _NUMBERS.fullmatch(rest) and option.casefold() == "allow"  # of several calls
    return f"allow {rest}" if is_some else _plain(asked, words.rstrip(".!"))


def _plain(asked: OpenQuestion, word: str) -> str | None:
    """What a yes or a no means here."""
    sign, options = _TONES.sub("", word.replace(_VARIANT, "")).casefold(), asked.question.options
    if asked.question.type in UNCLEAR or not options:
        return None
    known = {option.casefold(): option for option in options}
    if sign in YES:
        return next((known[each] for each in GOES_ON if each in known), None)
    if sign in NO:
        return next((known[each] for each in STOPS if each in known), options[0])
    return None
