"""Reading and changing the files of the agent's workspace.

What is told of a file is a stranger's words, whoever wrote them. Deleting is writing here: in a workspace of layers it can be undone, so
nobody need be asked. With every result comes, once, what somebody else changed of the files that this session knows.

A write repeated is harmless. An edit, a patch, a move or a deletion under way when Daimon died is looked at: what can be told from the
files is told, what cannot is not done a second time.
"""

from collections.abc import Sequence
from typing import Annotated, Any, assert_never

from pydantic import Field, JsonValue

from daimon.abi.files import Binary, Files, FilesOf, Hit, Item, Page, Picture, Query, Replacement, Trace, Window, Written, shown
from daimon.abi.label import Author
from daimon.abi.message import Image
from daimon.abi.ports import Store
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool, Touched
from daimon.tools.schema import tool

MOST_CONTEXT = 20
TIMEOUT_S = 120.0
_READS, _WRITES = {Capability.READS_PRIVATE}, {Capability.READS_PRIVATE, Capability.WRITES}
_OF_FILE, _OF_MANY = ResultLabel(Author.STRANGER, "file:{path}"), ResultLabel(Author.STRANGER, "files")
_Path = Annotated[str, ArgumentRole.TARGET, "Path in the workspace."]
_Where = Annotated[str, ArgumentRole.TARGET, "Directory or file."]
_Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
_Pairs = Annotated[list[_Pair], Field(min_length=1, max_length=100)]
_Edits = Annotated[_Pairs, ArgumentRole.CONTENT, "Pairs [old text, new text], in order."]
_All = Annotated[bool, "Replace each old text wherever it occurs; else it must occur once."]


def file_tools(workspaces: FilesOf, store: Store) -> tuple[Tool, ...]:
    """`store` keeps the images that are shown."""
    return (*_reading(workspaces, store), *_finding(workspaces), *_writing(workspaces), *_changing(workspaces), *_arranging(workspaces))


def _reading(workspaces: FilesOf, store: Store) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities=_READS, result=_OF_FILE, timeout_s=TIMEOUT_S, max_result_bytes=512 * 1024)
    async def read_file(
        call: Call,
        path: _Path,
        offset: Annotated[int, "First line, from 1."] = 1,
        limit: Annotated[int, "Lines at most."] = 2_000,
        bytes: Annotated[bool, "Count bytes from 0 instead."] = False,
    ) -> Result:
        """Read a text file or image."""
        window = Window(max(offset, 0), max(limit, 1), "bytes" if bytes else "lines")
        async with workspaces.files(call) as files:
            found = await files.read(path, window)
            told = _told(files, _read(found))
        if not isinstance(found, Picture):
            return told
        return Result(told.data, (Image(await store.put(found.data), found.media_type, shown(found.path)),))

    @tool(effect=Effect.PURE, capabilities=_READS, result=_OF_MANY, timeout_s=TIMEOUT_S)
    async def list_files(call: Call, path: Annotated[str, ArgumentRole.TARGET, "Directory."] = ".") -> Result:
        """List a directory."""
        async with workspaces.files(call) as files:
            found = await files.list(path)
            return _told(files, {"entries": [_item(item) for item in found.items], "more": found.left_out})

    return (read_file, list_files)


def _finding(workspaces: FilesOf) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities=_READS, result=_OF_MANY, timeout_s=TIMEOUT_S, is_rare=True)
    async def find_files(
        call: Call,
        pattern: Annotated[str, ArgumentRole.QUERY, "Such as *.py or src/**/test_*.py"],
        path: Annotated[str, ArgumentRole.TARGET, "Directory."] = ".",
    ) -> Result:
        """Find files by name."""
        async with workspaces.files(call) as files:
            found = await files.find(pattern, path)
            return _told(files, {"paths": [shown(each) for each in found.paths], "more": found.left_out, "notes": list(found.notes)})

    @tool(effect=Effect.PURE, capabilities=_READS, result=_OF_MANY, timeout_s=TIMEOUT_S, max_result_bytes=512 * 1024)
    async def search_files(
        call: Call,
        pattern: Annotated[str, ArgumentRole.QUERY, "Regular expression."],
        path: _Where = ".",
        glob: Annotated[str, "Only such files, as *.py"] = "",
        literal: Annotated[bool, "Plain text, no expression."] = False,
        context: Annotated[int, "Lines around each hit."] = 0,
    ) -> Result:
        """Search lines in files. (?i) in front ignores case."""
        query = Query(pattern=pattern, path=path, glob=glob, is_literal=literal, context=min(max(context, 0), MOST_CONTEXT))
        async with workspaces.files(call) as files:
            found = await files.search(query)
            more = "there is more; narrow the search" if found.has_more else ""
            return _told(files, {"hits": _hits(found.hits), "more": more, "notes": list(found.notes)})

    return (find_files, search_files)


def _writing(workspaces: FilesOf) -> tuple[Tool, ...]:
    @tool(effect=Effect.IDEMPOTENT, capabilities=_WRITES, result=_OF_FILE, timeout_s=TIMEOUT_S, changes_files=True)
    async def write_file(
        call: Call,
        path: _Path,
        content: Annotated[str, ArgumentRole.CONTENT, "All of it."],
        version: Annotated[str, "Only if it is at this version."] = "",
        overwrite: Annotated[bool, "Even if others changed it since you read it."] = False,
    ) -> Result:
        """Write a whole file."""
        async with workspaces.files(call) as files:
            return _written(files, (await files.write(path, content, version, overwrite=overwrite),))

    return (write_file,)


def _changing(workspaces: FilesOf) -> tuple[Tool, ...]:
    async def was_edited(call: Call, path: str, edits: list[list[str]], all: bool) -> Result | None:
        async with workspaces.files(call) as files:
            return _traced(await files.was_edited(path, _replacements(edits, all)), path)

    @tool(effect=Effect.VERIFIABLE, capabilities=_WRITES, result=_OF_FILE, timeout_s=TIMEOUT_S, verify=was_edited, changes_files=True)
    async def edit_file(call: Call, path: _Path, edits: _Edits, all: _All = False) -> Result:
        """Replace exact text in a file: all edits or none."""
        async with workspaces.files(call) as files:
            return _written(files, (await files.edit(path, _replacements(edits, all)),))

    async def was_patched(call: Call, patch: str) -> Result | None:
        async with workspaces.files(call) as files:
            return _traced(await files.was_patched(patch), "")

    @tool(
        effect=Effect.VERIFIABLE, capabilities=_WRITES, result=_OF_MANY, timeout_s=TIMEOUT_S, verify=was_patched, changes_files=True,
        is_rare=True,
    )  # fmt: skip
    async def patch_files(call: Call, patch: Annotated[str, ArgumentRole.CONTENT, "Unified diff."]) -> Result:
        """Change several files by a unified diff: all of it or nothing."""
        async with workspaces.files(call) as files:
            return _written(files, await files.patch(patch))

    return (edit_file, patch_files)


def _arranging(workspaces: FilesOf) -> tuple[Tool, ...]:
    async def was_moved(call: Call, path: str, to: str, overwrite: bool) -> Result | None:
        async with workspaces.files(call) as files:
            is_there, has_arrived = await files.exists(path), await files.exists(to)
        return _traced("done" if has_arrived and not is_there else "not done" if is_there else "unclear", path)

    @tool(
        effect=Effect.VERIFIABLE, capabilities=_WRITES, result=_OF_FILE, timeout_s=TIMEOUT_S, verify=was_moved, changes_files=True,
        is_rare=True,
    )  # fmt: skip
    async def move_file(
        call: Call,
        path: Annotated[str, ArgumentRole.TARGET, "From."],
        to: Annotated[str, ArgumentRole.TARGET, "New path."],
        overwrite: Annotated[bool, "Replace what is there."] = False,
    ) -> Result:
        """Move or rename a file or directory."""
        async with workspaces.files(call) as files:
            moved = await files.move(path, to, overwrite=overwrite)
            touched = Touched("file", shown(moved.source), "removed"), Touched("file", shown(moved.target), "added")
            return _told(files, {"moved": shown(moved.source), "to": shown(moved.target)}, touched)

    async def was_deleted(call: Call, path: str, recursive: bool) -> Result | None:
        async with workspaces.files(call) as files:
            return _traced("not done" if await files.exists(path) else "done", path)

    @tool(
        effect=Effect.VERIFIABLE, capabilities=_WRITES, result=_OF_FILE, timeout_s=TIMEOUT_S, verify=was_deleted, changes_files=True,
        is_rare=True,
    )  # fmt: skip
    async def delete_file(call: Call, path: _Path, recursive: Annotated[bool, "A directory with all in it."] = False) -> Result:
        """Delete a file or directory."""
        async with workspaces.files(call) as files:
            gone = await files.delete(path, recursive=recursive)
            return _told(files, {"deleted": gone.count}, (Touched("file", shown(gone.path), "removed"),))

    return (move_file, delete_file)


def _told(files: Files, data: dict[str, JsonValue], touched: tuple[Touched, ...] = ()) -> Result:
    """What does not apply is left out."""
    said = {key: value for key, value in data.items() if value not in ("", 0, []) or key in ("text", "entries", "paths", "hits")}
    if news := files.changed():
        said["changed_meanwhile"] = [shown(path) for path in news]
    return Result(said, touched=touched)


def _read(found: Page | Picture | Binary) -> dict[str, JsonValue]:
    match found:
        case Page():
            encoding = "" if found.encoding == "utf-8" else found.encoding
            part, notes = found.part, list[JsonValue](found.notes)
            return {"text": found.text, "part": part, "encoding": encoding, "notes": notes, "version": found.version}
        case Picture():
            return {"image": found.media_type, "size": len(found.data), "version": found.version}
        case Binary():
            notes = list[JsonValue](found.notes)
            return {"binary": found.kind, "size": found.size, "sha256": found.hash, "notes": notes, "version": found.version}
        case _:
            assert_never(found)


def _item(item: Item) -> str:
    name = shown(item.name)
    match item.kind:
        case "directory":
            return f"{name}/"
        case "link":
            return f"{name} → {shown(item.target)}"
        case "file":
            return f"{name} ({item.size:,})"
        case "other":
            return f"{name} (no file)"


def _hits(hits: Sequence[Hit]) -> str:
    """By file, as people write it: the path, then its lines with their numbers."""
    said, last = list[str](), ""
    for hit in hits:
        if hit.path != last:
            said.append(shown(hit.path))
            last = hit.path
        lines = enumerate(hit.text.split("\n"), hit.line)
        said += [f"{number}{':' if number == hit.found_at else '-'} {line}" for number, line in lines]
    return "\n".join(said)


def _written(files: Files, done: Sequence[Written]) -> Result:
    told: list[JsonValue] = []
    for each in done:
        said: dict[str, JsonValue] = {"path": shown(each.path), "what": each.what, "version": each.version, "diff": each.diff}
        told.append({key: value for key, value in (said | {"notes": list(each.notes)}).items() if value not in ("", [])})
    touched = tuple(Touched("file", shown(each.path), each.what) for each in done if each.what != "unchanged")
    return _told(files, {"files": told}, touched)


def _replacements(edits: list[list[str]], all: bool) -> list[Replacement]:
    return [Replacement(old, new, all) for old, new in edits]


def _traced(trace: Trace, path: str) -> Result | None:
    """None: it did not happen, and is done now."""
    if trace == "not done":
        return None
    said: dict[str, Any] = {"done": "it was done before Daimon stopped" if trace == "done" else UNCLEAR}
    return Result(said, touched=(Touched("file", path, "changed"),) if trace == "done" and path else ())


UNCLEAR = "Daimon stopped while this ran, and the files do not tell whether it was done, wholly or in part; read them"
