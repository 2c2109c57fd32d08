"""What a line at the prompt wants: most are for Daimon, a few are for the chat itself.

A first word such as `/help` is a command; `/etc/hosts` is not, as a command has one slash. A command that nobody knows is not sent: its
writer meant something else.
"""

import re
from dataclasses import dataclass

LEAVE = ("/quit", "/exit", "quit", "exit")
HELP = """\
/say TEXT      sends TEXT as a message, also where the next line would answer a question, or begins with a slash
/help          this list
/quit, /exit   leave, as do `quit`, `exit` and Ctrl-D
@path          sends a file along
\\ at the end of a line, or \"\"\" around several, makes one message of them
Ctrl-C stops a turn, or gives up a line"""
_COMMAND = re.compile(r"/[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class Line:
    """For Daimon: a message, or an answer where there is a question."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """A message, whatever is asked."""

    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    pass


@dataclass(frozen=True, slots=True)
class Explain:
    text: str


def read(line: str) -> Line | Say | Leave | Explain:
    if line.casefold() in LEAVE:
        return Leave()
    word = line.split(maxsplit=1)[0] if line.strip() else ""
    if not _COMMAND.fullmatch(word):
        return Line(line)
    rest = line.strip()[len(word) :].strip()
    match word.casefold():
        case "/say":
            return Say(rest) if rest else Explain("/say what? `/say TEXT` sends TEXT as a message")
        case "/help":
            return Explain(HELP)
        case _:
            return Explain(f"{word} is no command of the chat, and was not sent; `/help` lists them, `/say {word} …` sends it as a message")
