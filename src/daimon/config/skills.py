"""`[skills]`: what the agent reads before it does something that somebody has done before."""

from typing import Annotated

from pydantic import Field

from daimon.config.branch import Branch


class Skills(Branch):
    """What the agent reads before it does something that somebody has done before."""

    suggest: Annotated[int, Field(ge=0, le=10)] = 3
    """So many skills that may fit are named to the model with what was said; 0: none, it looks for them itself."""
    learn: bool = True
    """After a turn that was expensive, propose a skill drawn from its record. Nothing is used before you accept it."""
