"""Commands in terminals: shells that stay, in the box of the agent's session, without a network.

`run` waits for a command or lets it go on by itself; `send_input` types to one that goes on; `read_output` has what was left out;
`jobs` lists what runs and stops it. All of them join the box with what they were decided under. A command that was under way when Daimon
died has died with its box: whoever asks about it hears that, and it is not run again.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from daimon.abi.label import Author
from daimon.abi.progress import Progress
from daimon.abi.resources import Resources
from daimon.abi.terminal import MAIN, Bench, Done, Job, Line, Outputs, Seen, Under
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool, Touched
from daimon.tools.schema import tool
from daimon.tools.shell import ENDS, network_of, owner_of, touched_by

LONGEST_S, MARGIN_S, MOST_READ = 1_800.0, 30.0, 65_536
_Line = Annotated[str, Field(min_length=1, max_length=200_000)]
_Terminal = Annotated[str, Field(min_length=1, max_length=32)]
_Seconds = Annotated[float, Field(ge=0.1, le=LONGEST_S)]
_Wait = Annotated[float, Field(ge=0.1, le=60.0)]
_Typed = Annotated[str, Field(max_length=4_000)]
_Id = Annotated[str, Field(max_length=80)]
_Place = Annotated[int, Field(ge=-(1 << 40), le=1 << 40)]
_Length = Annotated[int, Field(ge=1, le=MOST_READ)]
KEYS = {"enter": "\n", "ctrl-c": "\x03", "ctrl-d": "\x04", "none": ""}
_Key = Literal["enter", "ctrl-c", "ctrl-d", "none"]
OWN = {Capability.EXECUTES, Capability.WRITES, Capability.READS_PRIVATE}
BOX = ResultLabel(Author.STRANGER, "box")


@dataclass(frozen=True, slots=True)
class Served:
    """Whoever serves these calls."""

    boxes: Resources[Bench]
    outputs: Outputs
    progress: Progress


def terminal_tools(served: Served) -> tuple[Tool, ...]:
    async def interrupted(call: Call, **_: Any) -> Result:
        return Result(
            {"end": "interrupted", "note": "Daimon stopped while this ran, and the box with it; it may have been done in part: look"}
        )

    @tool(effect=Effect.VERIFIABLE, capabilities=OWN, result=BOX, timeout_s=LONGEST_S + MARGIN_S, verify=interrupted, changes_files=True)
    async def run(
        call: Call,
        command: Annotated[_Line, ArgumentRole.COMMAND, "For bash."],
        terminal: Annotated[_Terminal, ArgumentRole.TARGET, "A new name opens another."] = MAIN,
        timeout_s: Annotated[_Seconds, ArgumentRole.TIME, "Stopped after so many seconds."] = 120.0,
        background: Annotated[bool, ArgumentRole.CONTENT, "Return at once; for what takes long or wants input."] = False,
    ) -> Result:
        """Run a command in a shell of your box: Linux with your workspace, no network. Directory, variables and what runs with & stay."""
        limit = LONGEST_S if background else timeout_s
        line = Line(command=command, terminal=terminal, timeout_s=limit, label=call.label, task=str(call.conversation))
        async with served.boxes.lease(owner_of(call)) as lease:
            if background:
                output = await lease.resource.terminals.begin(line, lambda text: served.progress(call, text))
                return Result(_with_lost({"job": output, "note": "it goes on; see jobs, send_input, read_output"}, lease.lost))
            done = await lease.resource.terminals.run(line, lambda text: served.progress(call, text))
        return Result(_with_lost(told(done), lease.lost), touched=touched(done))

    @tool(effect=Effect.VERIFIABLE, capabilities=OWN, result=BOX, timeout_s=120.0, verify=interrupted, is_rare=True)
    async def send_input(
        call: Call,
        text: Annotated[_Typed, ArgumentRole.COMMAND, "What to type."],
        terminal: Annotated[_Terminal, ArgumentRole.TARGET, "Where it runs."] = MAIN,
        key: Annotated[_Key, ArgumentRole.CONTENT, "Pressed after it."] = "enter",
        wait_s: Annotated[_Wait, ArgumentRole.TIME, "Seconds to wait for output."] = 5.0,
    ) -> Result:
        """Type to a program that you started with background=true, and read what it prints."""
        async with served.boxes.lease(owner_of(call)) as lease:
            seen = await lease.resource.terminals.send(terminal, text + KEYS[key], wait_s, call.label)
        return Result(_with_lost(_seen(seen), lease.lost), touched=touched(seen.done) if seen.done else ())

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=BOX)
    async def read_output(
        call: Call,
        output: Annotated[_Id, ArgumentRole.TARGET, "Its id, as run named it."],
        start: Annotated[_Place, ArgumentRole.CONTENT, "First byte; negative: from the end."] = -16_384,
        length: Annotated[_Length, ArgumentRole.CONTENT, "Bytes."] = 16_384,
    ) -> Result:
        """Read more of what a command printed."""
        found = served.outputs.read(owner_of(call), output, start, length)
        told: dict[str, JsonValue] = {"text": found.text, "bytes": f"{found.start}-{found.end} of {found.size}"}
        if found.missing:
            told["missing"] = f"{found.missing} bytes in the middle were not kept"
        return Result(told)

    @tool(effect=Effect.IDEMPOTENT, capabilities=OWN, result=BOX, timeout_s=60.0, is_rare=True)
    async def jobs(
        call: Call,
        stop: Annotated[_Id, ArgumentRole.TARGET, "A job's id or a process number to stop; empty: only list."] = "",
    ) -> Result:
        """List what runs in your terminals, or stop one."""
        async with served.boxes.lease(owner_of(call)) as lease:
            terminals = lease.resource.terminals
            stopped = await terminals.stop(stop) if stop else ""
            under, processes = await terminals.jobs()
        listed: dict[str, JsonValue] = {"jobs": [_under(each) for each in under], "processes": [_job(each) for each in processes]}
        if stopped:
            listed["stopped"] = stopped
        return Result(_with_lost(listed, lease.lost))

    return run, send_input, read_output, jobs


def told(done: Done) -> dict[str, JsonValue]:
    """What the model reads; what does not apply is left out."""
    found: dict[str, JsonValue] = {"exit": done.code, "output": done.text}
    optional: dict[str, JsonValue] = {
        "end": ENDS.get(done.end, done.end) if done.end != "exited" else "",
        "more": f"read_output {done.output}" if done.is_cut else "",
        "directory": done.directory,
        "running": [_job(job) for job in done.jobs],
        "before": done.meanwhile,
        "set_aside": list(done.set_aside),
        "note": "files that would run by themselves on the owner's machine were renamed" if done.set_aside else "",
        "network": network_of(done.attempts),
        "lost": " ".join(done.lost),
    }
    return {**found, **{name: value for name, value in optional.items() if value}}


def touched(done: Done) -> tuple[Touched, ...]:
    left = (Touched("process", f"{job.pid} {job.line}"[:500], f"runs on in terminal {job.terminal}") for job in done.jobs)
    return (*(touched_by(attempt) for attempt in done.attempts), *left)


def _seen(seen: Seen) -> dict[str, JsonValue]:
    ended: dict[str, JsonValue] = {**told(seen.done), "output": seen.text or seen.done.text} if seen.done else {"output": seen.text}
    return ended if seen.done else {**ended, "job": seen.output, "running": True}


def _under(under: Under) -> JsonValue:
    state = "running" if under.done is None else f"ended with {under.done.code}"
    return {"job": under.output, "terminal": under.terminal, "command": under.command[:200], "state": f"{state}, {under.for_s:.0f} s"}


def _job(job: Job) -> str:
    return f"{job.pid} {job.line} ({job.terminal}, {job.age_s:.0f} s, {job.state})"


def _with_lost(found: dict[str, JsonValue], lost: str) -> dict[str, JsonValue]:
    before = found.get("lost")
    return {**found, "lost": f"{lost} {before}" if before else lost} if lost else found
