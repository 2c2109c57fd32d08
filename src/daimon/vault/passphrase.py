"""The key made of words that a person knows: from a variable of the environment, or asked for by whoever sits there."""

from collections.abc import Callable

from daimon.abi.errors import BadInput, Misconfigured
from daimon.vault.seal import WORK
from daimon.vault.source import PASSPHRASE_VARIABLE

FEWEST_LETTERS = 12
_MOST_LETTERS = 1_024


class Passphrase:
    name = "passphrase"
    work = WORK

    def __init__(self, ask: Callable[[], str | None]) -> None:
        """`ask` returns None where nobody can be asked."""
        self._ask = ask
        self._known: str | None = None

    def material(self, place: str) -> bytes:
        """Asked once a process."""
        if self._known is None:
            self._known = self._ask()
        if not self._known:
            raise Misconfigured(f"the vault is sealed with a passphrase; set {PASSPHRASE_VARIABLE}, or run this at a terminal")
        return self._known.encode("utf-8", "surrogateescape")

    def prepare(self) -> str:
        size = len(self.material("").decode("utf-8", "replace"))
        if not FEWEST_LETTERS <= size <= _MOST_LETTERS:
            raise BadInput(f"a passphrase needs {FEWEST_LETTERS} to {_MOST_LETTERS:,} characters; some words are easier to remember")
        return ""

    def drop(self, place: str) -> None:
        return

    def forget(self) -> None:
        """What was said did not open it: the next one is asked anew."""
        self._known = None
