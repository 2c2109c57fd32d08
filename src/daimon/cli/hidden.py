"""What is typed unseen, and what comes through a pipe instead: values and passphrases. They never stand on a command line.

A passphrase is asked for before the event loop runs: while a loop runs, Ctrl-C would not get through to the question.
"""

import getpass
import os
import sys
import warnings

from daimon import keeper
from daimon.abi.errors import BadInput, DaimonError
from daimon.cli.attention import attentive
from daimon.config import Home

_MOST_BYTES = 1024 * 1024
"""Of what comes through a pipe: more than any secret may have, and not without an end."""
_INSTEAD = f"set {keeper.PASSPHRASE_VARIABLE}"


def ask(question: str, instead: str) -> str:
    """At the terminal. `instead`: what to do where it cannot hide what is typed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            with attentive():
                return getpass.getpass(question)
        except EOFError:
            raise KeyboardInterrupt from None
        except getpass.GetPassWarning:
            raise DaimonError(f"this terminal cannot hide what is typed; {instead}") from None


def value(question: str) -> str:
    """Of a secret: typed, or all that comes through stdin. Raises BadInput for what is no text."""
    if sys.stdin.isatty():
        return ask(question, "give it through a pipe")
    try:
        return sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("the value is not text in UTF-8; encode it first, such as with base64") from None


def passphrase() -> str | None:
    """Of the vault. None: nobody sits there."""
    return ask("Passphrase of the vault (it is not shown): ", _INSTEAD) if sys.stdin.isatty() and sys.stderr.isatty() else None


def new_passphrase() -> str:
    """Typed twice, or a line of stdin."""
    if not sys.stdin.isatty():
        return sys.stdin.readline(_MOST_BYTES).rstrip("\r\n")
    first = ask("New passphrase of the vault (it is not shown): ", _INSTEAD)
    if ask("Once more: ", _INSTEAD) != first:
        raise BadInput("the two are not the same; nothing was changed")
    return first


def passphrase_ahead(home: Home) -> keeper.Ask:
    """Asked now if the vault needs one, said when it is opened."""
    said = passphrase() if keeper.needs_passphrase(home, os.environ) else None
    return lambda: said
