"""The scripts of skills: each skill that has some has one tool, and that tool's manifest is the skill's grant.

A run gets a box of its own, which is thrown away afterwards. In it are the skill's files, read-only at `/skill`, and what the owner agreed
to: the hosts that the call names, of those in the grant; secrets as placeholders; the workspace, to be read or written, or none. Without
a workspace it works in a scratch directory. Nothing else: no files of the home, no terminals, no other host.

What runs is what was verified: the files are read from the library at every run, compared with the version for which the tool was made,
and copied out; so nothing that changes on disk meanwhile is run. A tool is made for one version; its description names it, so a call that
was allowed under one version is not run under another.

Where the owner does not vouch for a skill, no word of its author stands in the manifest but the hosts that were agreed to: neither its name
nor those of its scripts. Whoever is shown it has read a stranger's words all the same. What a script prints is a stranger's, joined with
what it was given; only a vouched one that reaches nobody prints under its own label.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import JsonValue

from daimon.abi.box import Command, Limits, Place, Role
from daimon.abi.errors import DaimonError, Denied, Misconfigured, NotFound, ToolFailed
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.skill import Installed, script_tool_of
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Manifest, Result, ResultLabel, Tool
from daimon.library.shelves import DRAFT
from daimon.marks import Marks
from daimon.tools.shell import told, touched_by
from daimon.workshop import WiredBox, Workshop

SKILLS = "skills"
"""In the home."""
AT = "/skill"
"""Where a script finds the files of its skill."""
LONGEST_S, MARGIN_S = 600.0, 60.0
MOST_ARGUMENTS, MOST_ARGUMENT, MOST_INPUT, MOST_SCRIPTS = 64, 8_000, 200_000, 64
LIMITS = Limits(memory_mb=1_024, processes=128, file_mb=256, disk_mb=1_024, cpu_s=600)
RUNNERS = {".py": "python3", ".sh": "sh", ".bash": "bash", ".js": "node", ".mjs": "node", ".rb": "ruby", ".pl": "perl"}
"""What runs a script that cannot be run by itself, by the end of its name."""
_IN_SCRATCH = ("/bin/sh", "-c", 'cd "$HOME" && exec "$@"', "sh")


class Stored(Protocol):
    @property
    def data(self) -> bytes: ...

    @property
    def is_executable(self) -> bool: ...


Files = Callable[[str], Awaitable[tuple[Installed, Mapping[str, Stored]]]]
"""Of a skill by name, as they were installed. Raises NotFound, and ToolFailed where they are not."""


def script_tools(skill: Installed, shop: Workshop, files: Files) -> tuple[Tool, ...]:
    """None where it has no scripts, or where no box can be made."""
    if not skill.skill.scripts or not shop.sandboxes.can_be_made or skill.state != "ready":
        return ()
    return (ScriptTool(skill, shop, files),)


class ScriptTool:
    def __init__(self, skill: Installed, shop: Workshop, files: Files) -> None:
        self.manifest = manifest_of(skill)
        self._skill, self._shop, self._files = skill, shop, files

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        given: Any = arguments
        skill, bundle = await self._bundle()
        program = _program(skill.name, given["script"], bundle)
        argv = (*(_IN_SCRATCH if self._has_no_files else ()), *program, *given.get("arguments", ()))
        command = Command(
            argv=argv, stdin=given.get("input", "").encode(), timeout_s=LONGEST_S, label=call.label,
            places=tuple(_place(host) for host in given.get("hosts", ())),
        )  # fmt: skip
        async with self._box(bundle, call) as box:
            ran = await box.run(command)
            label = join((self._of_output, call.label, *(() if self._has_no_files else (box.mark.label,))))
        return Result(told(ran, ""), touched=tuple(touched_by(attempt) for attempt in ran.attempts), labels={"": label})

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        raise ToolFailed("not_verifiable", f"nobody can tell whether {self.manifest.name} happened; ask the owner")

    @property
    def _has_no_files(self) -> bool:
        return self._skill.skill.requires.files == "none"

    @property
    def _of_output(self) -> Label:
        if self._skill.is_vouched and not self._skill.skill.requires.hosts:
            return self._skill.label
        return Label.of(Origin(Author.STRANGER, self._skill.origin))

    async def _bundle(self) -> tuple[Installed, Mapping[str, Stored]]:
        name = self._skill.name
        try:
            skill, bundle = await self._files(name)
        except NotFound as gone:
            raise ToolFailed("not_found", str(gone)) from gone
        if skill.version != self._skill.version or skill.skill.requires != self._skill.skill.requires:
            raise ToolFailed("changed", f"the skill {name} is another version than this call was meant for; look at it again")
        return skill, bundle

    @asynccontextmanager
    async def _box(self, bundle: Mapping[str, Stored], call: Call) -> AsyncIterator[WiredBox]:
        place = await asyncio.to_thread(_draft, self._shop.sandboxes.home / SKILLS)
        try:
            await asyncio.to_thread(_lay_out, place / "skill", bundle)
            box = await self._opened(place, call)
            try:
                yield box
            finally:
                await box.close()
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    async def _opened(self, place: Path, call: Call) -> WiredBox:
        role, key = replace(role_of(self._skill), mounts={AT: str(place / "skill")}), f"{call.agent}:{self.manifest.name}"
        try:
            if self._has_no_files:
                (place / "nothing").mkdir(mode=0o755)
                alone = replace(self._shop, sites=None, marks=Marks(), saved={})  # what it is given goes with it
                return await alone.open(role, place / "nothing", call.agent, key)
            if self._shop.sites is not None:
                return await self._shop.on(await self._shop.sites.own(), role, call.agent, key)
            return await self._shop.open(role, self._shop.sandboxes.workspace, call.agent, key)
        except (NotFound, Denied) as refused:
            raise ToolFailed("no_secret", f"the skill {self._skill.name} cannot have its secrets: {refused}") from refused
        except (Misconfigured, OSError) as broken:
            told = str(broken) if isinstance(broken, DaimonError) else broken.strerror
            raise ToolFailed("no_box", f"no box can be made for the skill {self._skill.name}: {told}") from broken


def manifest_of(skill: Installed) -> Manifest:
    needs = skill.skill.requires
    reaches, writes = bool(needs.hosts), needs.files == "write"
    capabilities = [Capability.EXECUTES]
    capabilities += [Capability.SENDS, Capability.READS_OUTSIDE] if reaches else []
    capabilities += [Capability.READS_PRIVATE] if needs.files != "none" else []
    capabilities += [Capability.WRITES] if writes else []
    roles = {"script": ArgumentRole.TARGET, "arguments": ArgumentRole.COMMAND, "input": ArgumentRole.CONTENT}
    return Manifest(
        name=script_tool_of(skill.called),
        description=f"Run a script of the skill {skill.called} (version {skill.version[:12]}) in a box of its own. use_skill says how.",
        parameters=_parameters(skill),
        effect=Effect.UNSAFE if reaches or writes else Effect.PURE,
        roles=roles | ({"hosts": ArgumentRole.DESTINATION} if reaches else {}),
        capabilities=tuple(capabilities),
        timeout_s=LONGEST_S + MARGIN_S,
        needs=needs.secrets,
        result=ResultLabel(Author.STRANGER, skill.origin),
        changes_files=writes or (reaches and needs.files == "read"),  # what is in the files may leave, and counts
        is_rare=True,
        author=Author.SERVICE if skill.is_vouched else Author.STRANGER,
    )


def role_of(skill: Installed) -> Role:
    """The grant, as a box has it."""
    needs = skill.skill.requires
    return Role(
        name=f"skill {skill.name}",
        read=() if needs.files == "none" else (".",),
        write=(".",) if needs.files == "write" else (),
        places=tuple(map(_place, needs.hosts)),
        secrets={name.upper().replace("-", "_").replace(".", "_"): name for name in needs.secrets},
        environment={"SKILL_DIR": AT},
        limits=LIMITS,
    )


def _parameters(skill: Installed) -> dict[str, JsonValue]:
    script: dict[str, JsonValue] = {"type": "string", "description": "As use_skill lists it."}
    scripts = skill.skill.scripts[:MOST_SCRIPTS]
    script |= {"enum": cast("JsonValue", list(scripts))} if skill.is_vouched else {"minLength": 1, "maxLength": 240}
    argument: JsonValue = {"type": "string", "maxLength": MOST_ARGUMENT}
    properties: dict[str, JsonValue] = {
        "script": script,
        "arguments": {"type": "array", "items": argument, "maxItems": MOST_ARGUMENTS, "description": "Its arguments."},
        "input": {"type": "string", "maxLength": MOST_INPUT, "description": "What it reads from standard input."},
    }
    required: list[JsonValue] = ["script"]
    if hosts := skill.skill.requires.hosts:
        host: JsonValue = {"type": "string", "enum": cast("JsonValue", list(hosts))}
        properties["hosts"] = {
            "type": "array",
            "items": host,
            "maxItems": len(hosts),
            "description": "Which of its hosts it may reach now.",
        }
        required.append("hosts")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _program(skill: str, script: str, bundle: Mapping[str, Stored]) -> tuple[str, ...]:
    if not script.startswith("scripts/") or script not in bundle:
        there = ", ".join(path for path in sorted(bundle) if path.startswith("scripts/"))
        raise ToolFailed("not_found", f"the skill {skill} has no script {script[:120]!r}; it has {there[:1_000]}")
    path, runner = f"{AT}/{script}", RUNNERS.get(Path(script).suffix)
    if bundle[script].is_executable and bundle[script].data[:2] in (b"#!", b"\x7fE"):
        return (path,)
    if runner is None:
        raise ToolFailed("cannot_run", f"{script} is no program that can be run: it is not executable, and nobody knows what runs it")
    return (runner, path)


def _draft(skills: Path) -> Path:
    """Where the library sweeps at the next start: a killed run leaves nothing of a skill behind."""
    skills.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=DRAFT, dir=skills))


def _lay_out(place: Path, bundle: Mapping[str, Stored]) -> None:
    """For whomever the box becomes to read."""
    place.mkdir(mode=0o755)
    for path, file in bundle.items():
        (place / path).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        (place / path).write_bytes(file.data)
        (place / path).chmod(0o755 if file.is_executable else 0o644)
    for directory in (place, *(each for each in place.rglob("*") if each.is_dir())):
        directory.chmod(0o755)  # whatever the umask is


def _place(host: str) -> Place:
    name, _, port = host.rpartition(":")
    return Place(name.lower(), (int(port),)) if name and port.isdigit() else Place(host.lower())
