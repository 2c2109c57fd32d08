"""What no policy can lift: calls that never run, whoever allows them.

Two things are looked at: how much a call carries, and, in arguments that are commands, what a shell would run. The second is a courtesy, so
that a model hears early and in words what was wrong. It is no wall: it is read without running anything, and whoever wants to hide a
command from a reader can. The box must hold without it. So what is not certain passes.

The reading itself is done by a `ShellReader`, outside this process: its parser is native code, and a text may crash it. A text at which
the reader ended, or for which it took too long, counts like one that is too deeply nested (`unread.py`).
"""

from collections.abc import Sequence

from pydantic import JsonValue

from daimon.abi.plain import size
from daimon.abi.shell import ShellReader
from daimon.abi.tool import ArgumentRole, Manifest
from daimon.policy.unread import unread

MOST_CHARACTERS = 1_000_000


class StandingFloor:
    def __init__(self, reader: ShellReader, never: tuple[str, ...] = ()) -> None:
        """`never` holds what the owner adds: words with * and ?, such as `terraform destroy`. Nothing can be taken out."""
        self._reader = reader
        self._never = tuple(words for pattern in never if (words := tuple(pattern.split())))

    def forbids(self, manifest: Manifest, arguments: dict[str, JsonValue]) -> str:
        """Why this call may never run; empty if it may."""
        if (length := size(arguments)) > MOST_CHARACTERS:
            return f"the arguments of {manifest.name} hold {length} characters, at most {MOST_CHARACTERS} may be passed; use a file"
        commands = (value for name, value in arguments.items() if manifest.roles.get(name) is ArgumentRole.COMMAND)
        return next((why for command in commands if (why := self._refused(command))), "")

    def check(self, command: str) -> str:
        """Why this command line may never run; empty if it may."""
        return self._read(command, command)

    def check_words(self, words: Sequence[str]) -> str:
        """The same for a command that is given as words, without a shell between."""
        return self._read(words, " ".join(words))

    def _read(self, command: str | Sequence[str], text: str) -> str:
        told = self._reader.read(command, self._never)
        return unread(text) if told is None else told

    def _refused(self, command: JsonValue) -> str:
        if isinstance(command, str):
            return self.check(command)
        if isinstance(command, list):
            return self.check_words([word for word in command if isinstance(word, str)])
        return ""
