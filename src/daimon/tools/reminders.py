"""Wake me later: remind, reminders, cancel_reminder.

A reminder is a timer of its conversation. Setting and cancelling are operations that take effect with the recorded outcome; the timer's
id comes from the call's key, so a call that is run again sets the same timer. When it fires, it enters as an event, like everything else.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.codec import fingerprint
from daimon.abi.errors import ToolFailed
from daimon.abi.ids import TimerId
from daimon.abi.label import Author, join
from daimon.abi.ports import Timers
from daimon.abi.tool import ArgumentRole, Call, CancelTimer, Capability, Effect, Result, ResultLabel, SetTimer, Tool
from daimon.tools.schema import tool

_YEARS_AHEAD = 100


def reminder_tools(timers: Timers) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "timers"))
    async def remind(
        call: Call,
        at: Annotated[datetime, ArgumentRole.TIME, "When, with offset: 2026-01-31T09:00:00+01:00."],
        about: Annotated[str, ArgumentRole.CONTENT, "What to be reminded of, complete in itself.", Field(min_length=1, max_length=1000)],
    ) -> Result:
        """Wake this conversation at a time, with a text that says what to do then."""
        if at <= call.now:
            raise ToolFailed("in_past", f"{at.isoformat()} has passed, it is {call.now.isoformat(timespec='seconds')}; give a later time")
        if at.year > call.now.year + _YEARS_AHEAD:
            raise ToolFailed("too_far", f"{at.isoformat()} is more than {_YEARS_AHEAD} years ahead; give an earlier time")
        timer, moment = TimerId(f"timer_{fingerprint(str, call.key)}"), at.astimezone(UTC)
        return Result({"reminder": timer, "at": moment.isoformat()}, operations=(SetTimer(timer, moment, about),), labels={"": call.label})

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "timers"))
    async def reminders(call: Call) -> Result:
        """List the reminders of this conversation, the next one first."""
        pending = sorted(await timers.pending(call.conversation), key=lambda each: each.at)
        data: list[JsonValue] = [{"id": each.timer, "at": each.at.isoformat(), "about": each.about} for each in pending]
        labels = {f"/reminders/{i}": each.label for i, each in enumerate(pending)}
        return Result({"reminders": data}, labels=labels | ({"": join(labels.values())} if labels else {}))

    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "timers"), is_rare=True)
    async def cancel_reminder(
        call: Call,
        reminder: Annotated[str, ArgumentRole.TARGET, "The id of the reminder, as remind or reminders gave it.", Field(max_length=64)],
    ) -> Result:
        """Cancel a reminder of this conversation."""
        known = [each.timer for each in await timers.pending(call.conversation)]
        if reminder not in known:
            there_are = ", ".join(known) or "none"
            raise ToolFailed("not_found", f"no reminder {reminder!r} is to come in this conversation; there are: {there_are}")
        return Result({"cancelled": reminder}, operations=(CancelTimer(TimerId(reminder)),), labels={"": call.label})

    return (remind, reminders, cancel_reminder)
