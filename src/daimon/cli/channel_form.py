"""What `daimon channel add` asks for, and what happens where nobody can be asked.

`Terminal` asks the person, with one line on where an answer is to be had; secrets are typed unseen. `Silent` stands in for it in scripts
and pipes: it names the option that is missing.
"""

from typing import Protocol

from daimon import hookup
from daimon.abi.errors import BadInput, LockedOut
from daimon.cli import hidden, screen
from daimon.cli.attention import attentive
from daimon.steward.channel_questions import Asked


class Form(Protocol):
    def field(self, asked: Asked, usual: str) -> str: ...

    def secret(self, asked: Asked) -> str:
        """Empty where it may be: a Matrix account logs in instead."""
        ...

    def password(self) -> str:
        """Of a Matrix account."""
        ...

    def refused(self, refusal: LockedOut) -> None:
        """Returns if the secrets are to be asked for again."""
        ...

    def takes(self, setting: str, value: str, why: str) -> bool:
        """Shall this suggestion be a setting?"""
        ...

    def pairs(self) -> bool: ...


class Silent:
    def field(self, asked: Asked, usual: str) -> str:
        raise BadInput(f"{asked.option} is missing: {asked.where}{f'; perhaps {usual}' if usual else ''}")

    def secret(self, asked: Asked) -> str:
        raise BadInput(f"{asked.option} is missing: {asked.where}")

    def password(self) -> str:
        raise BadInput("--password-stdin is missing")

    def refused(self, refusal: LockedOut) -> None:
        raise refusal

    def takes(self, setting: str, value: str, why: str) -> bool:
        return False

    def pairs(self) -> bool:
        return False


class Terminal:
    def field(self, asked: Asked, usual: str) -> str:
        screen.remark(asked.where)
        shown = f"{asked.question} [{usual}]: " if usual else f"{asked.question}: "
        while not (answer := _line(shown) or usual):
            pass
        return answer

    def secret(self, asked: Asked) -> str:
        screen.remark(asked.where)
        while True:
            typed = hidden.ask(f"{asked.question} (it is not shown): ", f"give it with {asked.option}").strip()
            if typed or "Enter:" in asked.question:
                return typed

    def password(self) -> str:
        return hidden.ask("Password of the account (it is not shown, and not kept): ", "give it with --password-stdin")

    def refused(self, refusal: LockedOut) -> None:
        screen.remark(str(refusal), style="red")
        screen.remark("once more, or Ctrl-C: nothing is written yet")

    def takes(self, setting: str, value: str, why: str) -> bool:
        screen.remark(why)
        return _is_yes(_line(f"Set {setting} to {value}? [Y/n] "))

    def pairs(self) -> bool:
        return _is_yes(_line("Make the code now that pairs your own chat? [Y/n] "))


def usual(name: str, setting: str, known: dict[str, object]) -> str:
    if name == "mail" and setting in ("imap", "smtp"):
        return hookup.servers_of(str(known.get("address", "")))[setting == "smtp"]
    return ""


def _is_yes(answer: str) -> bool:
    return answer.lower() in ("", "y", "yes")


def _line(question: str) -> str:
    try:
        with attentive():
            return input(screen.plain(question)).strip()
    except EOFError:
        raise KeyboardInterrupt from None
