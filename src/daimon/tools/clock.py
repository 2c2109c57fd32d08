"""What time is it? The time is the call's own, so a call that is run again after a crash tells the time of its own turn."""

from datetime import tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from daimon.abi.errors import Misconfigured, ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import Call, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def clock_tools(zone: str) -> tuple[Tool, ...]:
    """`zone` is the owner's, by its IANA name."""
    home = _zone(zone)
    if home is None:
        hint = "expected an IANA name such as Europe/Berlin; if it is one, this machine lacks the time zone data, install tzdata"
        raise Misconfigured(f"the owner's time zone {zone!r} is not known here; {hint}")

    @tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "clock"), timeout_s=5.0, max_result_bytes=1024)
    async def now(
        call: Call,
        zone: Annotated[str | None, "An IANA time zone such as Asia/Tokyo. Left out: the owner's.", Field(max_length=64)] = None,
    ) -> Result:
        """Tell the current date, time and weekday, in the owner's time zone or in another one."""
        if (there := home if zone is None else _zone(zone)) is None:
            raise ToolFailed("unknown_zone", f"{zone!r} is not a time zone; expected an IANA name such as Europe/Berlin")
        here = call.now.astimezone(there)
        return Result({"now": here.isoformat(timespec="seconds"), "zone": str(there), "weekday": _DAYS[here.weekday()]})

    return (now,)


def _zone(name: str) -> tzinfo | None:
    # The zone table is read from the system: a wrong name can be a missing file, a folder, or no name at all.
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
