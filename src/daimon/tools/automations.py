"""What happens by itself, from a conversation: automate, list_automations, stop_automation.

Setting one changes what will run later, without anybody there. So it counts as a permission: where the owner alone led to it, it is set at
once; where strangers had a word in what was read, the owner is asked. It takes effect with the recorded outcome, and carries the label of
the call: a task that others' words led to licenses nothing later, either. A licence can only be stated by the owner (`daimon automations`).
"""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, JsonValue

from daimon.abi.automation import Automate, Automation, Cease, Draft, Kept
from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.ids import SpaceId
from daimon.abi.label import Author, join
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.abi.watch import Watch, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.tools.schema import tool

_UP_TO_48, _UP_TO_200 = Field(max_length=48), Field(max_length=200)
CatchUp = Literal["skip", "once", "all"]
Overlap = Literal["skip", "wait"]
Kind = Literal["nothing", "feed", "page", "mailbox", "files", "refs", "output", "hook"]
SERVICE = ResultLabel(Author.SERVICE, "automations")


class Listing(Protocol):
    async def automations(self, space: SpaceId) -> tuple[Kept, ...]: ...


def automation_tools(kept: Listing, drafted: Callable[[Draft, datetime], Automation]) -> tuple[Tool, ...]:
    """`drafted` understands a schedule; it raises BadInput with what would be one."""

    @tool(effect=Effect.PURE, capabilities={Capability.GRANTS}, result=SERVICE, is_rare=True)
    async def automate(  # noqa: PLR0913 - every property of an automation that is not the owner's alone
        call: Call,
        name: Annotated[str, ArgumentRole.TARGET, "Short, small letters and hyphens; of one that exists, the rest changes.", _UP_TO_48],
        schedule: Annotated[str, ArgumentRole.PERMISSION, "In words (every weekday at 8, in 2 hours) or as cron.", _UP_TO_200] = "",
        task: Annotated[str, ArgumentRole.CONTENT, "What is to be done each time, complete in itself.", Field(max_length=8_000)] = "",
        watch: Annotated[Kind | None, ArgumentRole.PERMISSION, "Look there first, and wake you only with what has changed."] = None,
        what: Annotated[list[str] | None, ArgumentRole.TARGET, "Addresses, patterns, the command or the name to watch."] = None,
        selector: Annotated[str, ArgumentRole.QUERY, "Of a page: only this part, as CSS.", _UP_TO_200] = "",
        timezone: Annotated[str, ArgumentRole.CONTENT, "IANA name, if not the owner's.", _UP_TO_48] = "",
        model: Annotated[str, ArgumentRole.PERMISSION, "Who is asked first, by the owner's name for it.", _UP_TO_48] = "",
        cost_per_day: Annotated[float | None, ArgumentRole.PERMISSION, "Dollars."] = None,
        catch_up: Annotated[CatchUp | None, ArgumentRole.CONTENT, "What becomes of times missed while nothing ran."] = None,
        overlap: Annotated[Overlap | None, ArgumentRole.CONTENT, "What happens while the last one still goes on."] = None,
        jitter_s: Annotated[float | None, ArgumentRole.CONTENT, "Put off each time by up to so many seconds."] = None,
        paused: Annotated[bool | None, ArgumentRole.CONTENT, "Let it rest, or go on."] = None,
        here: Annotated[bool, ArgumentRole.CONTENT, "Of one that exists: send its results to this place from now on."] = False,
    ) -> Result:
        """Make something happen by itself: on a schedule, and if wanted only when something has changed. Results go to this place.
        Of one that exists, what you leave out stays as it is."""
        stands = next((each for each in await kept.automations(call.space) if each.automation.id == name), None)
        said: dict[str, Any] = {
            "task": task, "timezone": timezone, "model": model, "cost": None if cost_per_day is None else Decimal(str(cost_per_day)),
            "catch_up": catch_up, "overlap": overlap, "jitter_s": jitter_s, "is_paused": paused,
        }  # fmt: skip
        try:
            wanted = Draft(id=name, schedule=schedule, task="", to=call.reply_to) if stands is None else _as_it_stands(stands.automation)
            draft = replace(wanted, **{field: value for field, value in said.items() if value not in (None, "")})
            draft = replace(draft, schedule=schedule or wanted.schedule, to=call.reply_to if here else wanted.to)
            draft = draft if watch is None else replace(draft, watch=_watch(watch, tuple(what or ()), selector))
            automation = drafted(draft, call.now)
        except BadInput as bad:
            raise ToolFailed("bad_automation", str(bad)) from bad
        return _set(call, automation, stands, is_same_time=not schedule and not timezone)

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=SERVICE, is_rare=True)
    async def list_automations(call: Call) -> Result:
        """List what happens by itself, with each last outcome."""
        found = await kept.automations(call.space)
        labels = {f"/automations/{i}": each.label for i, each in enumerate(found)}
        return Result({"automations": [_shown(each) for each in found]}, labels=labels | ({"": join(labels.values())} if labels else {}))

    @tool(effect=Effect.PURE, capabilities={Capability.GRANTS}, result=SERVICE, is_rare=True)
    async def stop_automation(
        call: Call, name: Annotated[str, ArgumentRole.TARGET, "As list_automations names it.", Field(max_length=48)]
    ) -> Result:
        """Take away something that happens by itself."""
        known = [each.automation.id for each in await kept.automations(call.space)]
        if name not in known:
            raise ToolFailed("not_found", f"there is no automation {name!r}; there are: {', '.join(known) or 'none'}")
        return Result({"stopped": name}, operations=(Cease(name),), labels={"": call.label})

    return (automate, list_automations, stop_automation)


def _shown(kept: Kept) -> JsonValue:
    a, last = kept.automation, kept.last
    outcome = None if last is None else f"{last.outcome} at {last.due.isoformat(timespec='minutes')} {last.why}".strip()
    return {"name": a.id, "schedule": a.said, "task": a.task, "paused": a.is_paused, "last": outcome}


def _as_it_stands(automation: Automation) -> Draft:
    """As if it were asked for again. A licence is the owner's own to state: what an agent sets carries none."""
    kept = {each.name: getattr(automation, each.name) for each in fields(Draft) if each.name not in ("schedule", "licence")}
    return Draft(schedule=automation.said, **kept)


def _set(call: Call, automation: Automation, stands: Kept | None, is_same_time: bool) -> Result:
    """What is left as it was keeps its words' label: nothing becomes the owner's word by being passed on."""
    if stands is None:
        return Result({"automation": automation.id}, operations=(Automate(automation),), labels={"": call.label})
    if is_same_time:  # an interval goes on from where it began, and a day is the same day
        automation = replace(automation, when=stands.automation.when)
    gone = "; its licence is gone, so it asks before it acts: only the owner states one (daimon automations add … --licence)"
    note = f"changed{gone if stands.automation.licence is not None else ''}"
    told: JsonValue = {"automation": automation.id, "schedule": automation.said, "note": note}
    return Result(told, operations=(Automate(automation),), labels={"": call.label.joined(stands.label)})


def _watch(kind: Kind, what: tuple[str, ...], selector: str) -> Watch | None:
    if kind == "nothing":
        return None
    if not what:
        raise BadInput(f"watch={kind}: say in `what` which one")
    first = what[0]
    made: dict[str, Watch] = {
        "feed": WatchFeed(what), "page": WatchPage(first, selector), "mailbox": WatchMailbox(first), "files": WatchFiles(what),
        "refs": WatchRefs(first, what[1:]), "output": WatchOutput(first), "hook": WatchHook(first),
    }  # fmt: skip
    return made[kind]
