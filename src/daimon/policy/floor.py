"""What no policy can lift: calls that never run, whoever allows them.

Two things are looked at: how much a call carries, and, in arguments that are commands, what a shell would run. The second is a courtesy, so
that a model hears early and in words what was wrong. It is no wall: it is read without running anything, and whoever wants to hide a
command from a reader can. The box must hold without it. So what is not certain passes.
"""

from pydantic import JsonValue

from daimon.abi.plain import size
from daimon.abi.tool import ArgumentRole, Manifest

MOST_CHARACTERS = 1_000_000


class StandingFloor:
    def __init__(self, never: tuple[str, ...] = ()) -> None:
        """`never` holds what the owner adds: words with * and ?, such as `terraform destroy`. Nothing can be taken out."""
        self._never = tuple(words for pattern in never if (words := tuple(pattern.split())))

    def forbids(self, manifest: Manifest, arguments: dict[str, JsonValue]) -> str:
        """Why this call may never run; empty if it may."""
        if (length := size(arguments)) > MOST_CHARACTERS:
            return f"the arguments of {manifest.name} hold {length} characters, at most {MOST_CHARACTERS} may be passed; use a file"
        commands = (value for name, value in arguments.items() if manifest.roles.get(name) is ArgumentRole.COMMAND)
        return next((why for command in commands if (why := self._refused(command))), "")

    def check(self, command: str) -> str:
        """Why this command line may never run; empty if it may."""
        from daimon.policy.shell.read import read_text  # loaded with the first command, as a start that runs none does not need it

        return read_text(command, self._never)

    def check_words(self, words: list[str]) -> str:
        """The same for a command that is given as words, without a shell between."""
        from daimon.policy.shell.read import read_words

        return read_words(words, self._never)

    def _refused(self, command: JsonValue) -> str:
        if isinstance(command, str):
            return self.check(command)
        if isinstance(command, list):
            return self.check_words([word for word in command if isinstance(word, str)])
        return ""
