"""`[kernel]`, `[limits]`: how many turns run at once, and what one may take besides money."""

from typing import Annotated, Literal

from pydantic import Field

from daimon.config.branch import Branch


class Kernel(Branch):
    slots: Annotated[int, Field(ge=1, le=1_000)] = 16
    newer: Literal["wait", "steer", "interrupt"] = "wait"
    """What a newer message does to a running turn of its conversation."""
    drain_s: Annotated[float, Field(ge=0, le=600)] = 10.0


class Limits(Branch):
    """What one turn may take, besides money."""

    steps: Annotated[int, Field(ge=1)] = 200
    active_s: Annotated[float, Field(gt=0)] = 1_800.0
    errors: Annotated[int, Field(ge=1)] = 5
    pause_share: Annotated[float, Field(gt=0, le=1)] = 0.9
