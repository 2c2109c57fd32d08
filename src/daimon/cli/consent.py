"""A yes, before something that cannot simply be taken back."""

import sys

from daimon.abi.errors import BadInput
from daimon.cli import screen


def require(question: str, is_given: bool) -> None:
    """Asks at the terminal, unless the yes was given before. Raises BadInput where nobody can be asked, SystemExit(1) for a no."""
    if is_given:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{question} Nobody sits here to say so, and nothing was changed; add --yes")
    screen.remarks().out(f"{question} [y/N] ", end="", highlight=False)
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        screen.remark("nothing was changed")
        raise SystemExit(1)
