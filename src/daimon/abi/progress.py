"""What a tool says while it works: text for whoever looks on. It is shown and forgotten; the result is what counts."""

from collections.abc import Callable

from daimon.abi.tool import Call

Progress = Callable[[Call, str], None]
"""Never waits, and raises nothing."""


def unseen(_: Call, __: str) -> None:
    return
