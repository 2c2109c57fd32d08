"""An extension with one tool: the weather of a few places, without a network.

    # daimon.toml
    extensions = ["weather"]

The module must be on Python's import path: `PYTHONPATH=examples ./daimon up`.
"""

from typing import Annotated

from pydantic import Field

from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Rate, Result, ResultLabel
from daimon.extension import Kit
from daimon.tools.schema import tool

CLIMATE = {"berlin": ("cloudy", 9), "cairo": ("sunny", 24), "bergen": ("rain", 7)}


@tool(
    effect=Effect.PURE,
    capabilities={Capability.READS_OUTSIDE},
    result=ResultLabel(Author.SERVICE, "weather:{place}", fields={"/sky": Author.STRANGER}),
    timeout_s=10.0,
    rate=Rate(calls=60, per_s=60.0),
)
async def forecast(
    call: Call,
    place: Annotated[str, ArgumentRole.QUERY, "The name of a town.", Field(min_length=1, max_length=80)],
    days: Annotated[int, "How many days ahead; 0 is today.", Field(ge=0, le=7)] = 0,
) -> Result:
    """Tell the weather of a place. Use it for questions about rain, sun or temperature."""
    if place.lower() not in CLIMATE:
        raise ToolFailed("unknown_place", f"there is no forecast for {place!r}; known are {', '.join(sorted(CLIMATE))}")
    sky, degrees = CLIMATE[place.lower()]
    return Result({"place": place, "sky": sky, "degrees": degrees + days, "as_of": call.now.isoformat(timespec="seconds")})


def extend(kit: Kit) -> None:
    kit.tools.append(forecast)
