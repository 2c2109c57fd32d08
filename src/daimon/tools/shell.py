"""Running a program in the box of the agent's session with a way out to the hosts that the call names.

It is a tool of its own beside those of terminals (`terminal.py`), because it is another question to the policy: what runs without a network
stays in the box; what runs with one sends, and the hosts are its destinations. It has no terminal, and what it leaves running ends with it.
While it runs, whatever else runs in the box stands still.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.box import Attempt, Box, Command, Output, Place, Ran
from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.resources import Resources
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool, Touched
from daimon.tools.schema import tool

LONGEST_S = 1_800.0
MARGIN_S = 30.0
_Line = Annotated[str, Field(min_length=1, max_length=200_000)]
_Directory = Annotated[str, Field(min_length=1, max_length=4_096)]
_Seconds = Annotated[float, Field(ge=0.1, le=LONGEST_S)]
_Host = Annotated[str, Field(min_length=1, max_length=260)]
_Hosts = Annotated[list[_Host], Field(min_length=1, max_length=16)]
_WHAT = "A command line for `sh`."
_WHERE = "Directory to run it in, relative to the workspace."
_HOW_LONG = "Seconds after which it is stopped."
_OWN = {Capability.EXECUTES, Capability.WRITES, Capability.READS_PRIVATE}


def shell_tools(boxes: Resources[Box], places: tuple[Place, ...]) -> tuple[Tool, ...]:
    """`places` are all that any role may reach; without one there is no way to ask for a network."""

    @tool(
        effect=Effect.UNSAFE,
        capabilities={*_OWN, Capability.READS_OUTSIDE, Capability.SENDS},
        result=ResultLabel(Author.STRANGER, "box"),
        timeout_s=LONGEST_S + MARGIN_S,
        changes_files=True,
    )
    async def run_online(
        call: Call,
        command: Annotated[_Line, ArgumentRole.COMMAND, _WHAT],
        hosts: Annotated[_Hosts, ArgumentRole.DESTINATION, "Hosts that it may reach while it runs."],
        directory: Annotated[_Directory, ArgumentRole.TARGET, _WHERE] = ".",
        timeout_s: Annotated[_Seconds, ArgumentRole.TIME, _HOW_LONG] = 120.0,
    ) -> Result:
        """Run a command in your box with a way out to the hosts that you name, over HTTP and HTTPS. It has a shell of its own; what it
        leaves running ends with it, and what runs in your terminals stands still meanwhile."""
        wanted = tuple(_allowed(host, places) for host in hosts)
        return await _ran(boxes, call, replace(_command(call, command, directory, timeout_s), places=wanted))

    return (run_online,) if places else ()


def _command(call: Call, line: str, directory: str, timeout_s: float) -> Command:
    """With or without a network it puts into the box what the call was decided under, and a later command may send it."""
    return Command(argv=("/bin/sh", "-c", line), directory=directory, timeout_s=timeout_s, label=call.label)


def _allowed(host: str, places: tuple[Place, ...]) -> Place:
    for place in places:
        if place.host == host.lower():
            return place
    for place in places:
        if place.host.startswith("*.") and host.lower().endswith(place.host[1:]):
            return Place(host.lower(), place.ports, place.methods, place.paths)
    known = ", ".join(place.host for place in places)
    raise ToolFailed("not_allowed", f"{host} is no host that you may reach; these are: {known}. The owner can add it to your role's places")


async def _ran(boxes: Resources[Box], call: Call, command: Command) -> Result:
    async with boxes.lease(owner_of(call)) as lease:
        ran = await lease.resource.run(command)
    return Result(told(ran, lease.lost), touched=tuple(touched_by(attempt) for attempt in ran.attempts))


def told(ran: Ran, lost: str) -> JsonValue:
    """What the model reads; what does not apply is left out."""
    data: dict[str, JsonValue] = {"exit": ran.code, "output": _text(ran.out)}
    if errors := _text(ran.err):
        data["errors"] = errors
    if ran.end != "exited":
        data["end"] = ENDS.get(ran.end, ran.end)
    if ran.left:
        data["ended_with_it"] = list(ran.left)
    if ran.set_aside:
        data["set_aside"] = list(ran.set_aside)
        data["note"] = "files that would run by themselves on the owner's machine were renamed"
    if refused := network_of(ran.attempts):
        data["network"] = refused
    if lost:
        data["lost"] = lost
    return data


def network_of(attempts: tuple[Attempt, ...]) -> list[JsonValue]:
    """What was tried and did not go out."""
    refused: list[JsonValue] = [f"{each.host}: {each.reason}" for each in attempts if each.outcome != "passed"]
    return refused[:10]


def owner_of(call: Call) -> str:
    """Under which the box of an agent's session is known."""
    return f"{call.agent}:{call.conversation}"


ENDS = {
    "timeout": "stopped: it took too long",
    "memory": "stopped: it used more memory than the box may",
    "disk": "stopped: it wrote more than the box may",
    "processes": "stopped: it started more processes than the box may",
    "signalled": "ended by a signal",
}


def _text(output: Output) -> str:
    head, tail = output.head.decode(errors="replace"), output.tail.decode(errors="replace")
    return f"{head}\n… {output.cut_bytes:,} bytes left out …\n{tail}" if output.cut_bytes else head + tail


def touched_by(attempt: Attempt) -> Touched:
    what = f"{attempt.method} {attempt.host}:{attempt.port}{attempt.path}"
    how = f"{attempt.outcome}: {attempt.reason}" if attempt.reason else attempt.outcome
    used = f", with the secret {', '.join(attempt.secrets)}" if attempt.secrets else ""
    sent = attempt.label if attempt.outcome == "passed" or attempt.sent_bytes else None  # what was cut has left all the same
    return Touched("network", what[:500], f"{how}, {attempt.sent_bytes} bytes out, {attempt.received_bytes} in{used}", sent)
