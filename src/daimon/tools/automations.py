"""What happens by itself, from a conversation: automate, list_automations, stop_automation.

Setting one changes what will run later, without anybody there. So it counts as a permission: where the owner alone led to it, it is set at
once; where strangers had a word in what was read, the owner is asked. It takes effect with the recorded outcome, and carries the label of
the call: a task that others' words led to licenses nothing later, either. A licence can only be stated by the owner (`daimon automations`).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from daimon.abi.automation import Automate, Automation, Cease, Draft, Kept
from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.ids import SpaceId
from daimon.abi.label import Author, join
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.abi.watch import Watch, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.tools.schema import tool

Kind = Literal["nothing", "feed", "page", "mailbox", "files", "refs", "output", "hook"]
SERVICE = ResultLabel(Author.SERVICE, "automations")


class Listing(Protocol):
    async def automations(self, space: SpaceId) -> tuple[Kept, ...]: ...


def automation_tools(kept: Listing, drafted: Callable[[Draft, datetime], Automation]) -> tuple[Tool, ...]:
    """`drafted` understands a schedule; it raises BadInput with what would be one."""

    @tool(effect=Effect.PURE, capabilities={Capability.GRANTS}, result=SERVICE, is_rare=True)
    async def automate(
        call: Call,
        name: Annotated[str, ArgumentRole.TARGET, "Short, small letters and hyphens; an existing one is replaced.", Field(max_length=48)],
        schedule: Annotated[str, ArgumentRole.PERMISSION, "In words (every weekday at 8, in 2 hours) or as cron.", Field(max_length=200)],
        task: Annotated[str, ArgumentRole.CONTENT, "What is to be done each time, complete in itself.", Field(max_length=8_000)],
        watch: Annotated[Kind, ArgumentRole.PERMISSION, "Look there first, and wake you only with what has changed."] = "nothing",
        what: Annotated[list[str] | None, ArgumentRole.TARGET, "Addresses, patterns, the command or the name to watch."] = None,
    ) -> Result:
        """Make something happen by itself: on a schedule, and if wanted only when something has changed. Results go to this place."""
        try:
            draft = Draft(id=name, schedule=schedule, task=task, watch=_watch(watch, tuple(what or ())), to=call.reply_to)
            automation = drafted(draft, call.now)
        except BadInput as bad:
            raise ToolFailed("bad_automation", str(bad)) from bad
        return Result({"automation": automation.id}, operations=(Automate(automation),), labels={"": call.label})

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


def _watch(kind: Kind, what: tuple[str, ...]) -> Watch | None:
    if kind == "nothing":
        return None
    if not what:
        raise BadInput(f"watch={kind}: say in `what` which one")
    first = what[0]
    made: dict[str, Watch] = {
        "feed": WatchFeed(what), "page": WatchPage(first), "mailbox": WatchMailbox(first), "files": WatchFiles(what),
        "refs": WatchRefs(first, what[1:]), "output": WatchOutput(first), "hook": WatchHook(first),
    }  # fmt: skip
    return made[kind]
