"""`[agents]`: which agents there are, and what each holds."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from daimon.config.branch import Branch, as_list


class Agent(Branch):
    """An agent of `[agents]`. The built-in one is called `daimon`."""

    role: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = None
    """What the policies call `Role`. Left out: `assistant` for `daimon`, `reader` for every other."""
    tools: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ("*",)
    """The tools that it holds, by name, with * and ?."""
    may_hold_all: bool = False
    """It may read what is private, read what strangers wrote, and act, without each act being asked."""
    description: str = ""
    box: str | None = None
    """The role of its boxes. Left out: as `sandbox.role`."""
