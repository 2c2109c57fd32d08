"""Where an agent keeps things between turns, as tools: files, skills, a calendar. A value is kept with the label of the call that wrote it.

    STORE.json    {name: {"text": …, "label": …}}    read anew by every call, so a store is what its file says

A value without a label counts as a stranger's. `broken` is a store whose answer is an error that quotes what was stored.
"""

import json
from pathlib import Path
from typing import Annotated

from daimon.abi.codec import decode, encode
from daimon.abi.errors import ToolFailed
from daimon.abi.ids import AgentId
from daimon.abi.label import Author, Label, stated
from daimon.abi.message import Text
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Pending, Post, Result, ResultLabel, Tool
from daimon.tools.schema import tool

NAMES = ("file", "skill", "calendar")
HELPER = "helping"
Name = Annotated[str, ArgumentRole.TITLE, "Its name."]
Query = Annotated[str, ArgumentRole.QUERY, "Its name."]
Words = Annotated[str, ArgumentRole.CONTENT, "What to keep."]


class Store:
    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, name: str, text: str, label: Label) -> None:
        kept = self._all() | {name: {"text": text, "label": json.loads(encode(Label, label))}}
        self._path.write_text(json.dumps(kept))

    def get(self, name: str) -> tuple[str, Label]:
        kept = self._all().get(name)
        if kept is None:
            raise ToolFailed("not_found", f"there is no {name!r}")
        return kept["text"], stated(decode(Label, json.dumps(kept["label"]).encode()) if "label" in kept else None)

    def strip(self) -> None:
        self._path.write_text(json.dumps({name: {"text": each["text"]} for name, each in self._all().items()}))

    def _all(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = json.loads(self._path.read_text()) if self._path.exists() else {}
        return found


def stores(home: Path) -> tuple[Tool, ...]:
    tools = [each for name in NAMES for each in _store(name, Store(home / f"{name}.json"))]
    return (*tools, *_broken(Store(home / "file.json")), *_helper())


def _store(kind: str, store: Store) -> tuple[Tool, ...]:
    async def write(call: Call, name: Name, text: Words) -> Result:
        """Keep a text under a name."""
        store.put(name, text, call.label)
        return Result({"kept": name})

    async def read(call: Call, name: Query) -> Result:
        """Read a text that was kept."""
        text, label = store.get(name)
        return Result({"name": name, "text": text}, labels={"": label})

    write.__name__, read.__name__ = f"write_{kind}", f"read_{kind}"
    keeps = tool(effect=Effect.IDEMPOTENT, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, kind))
    looks = tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.STRANGER, kind))
    return keeps(write), looks(read)


def _broken(store: Store) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "table", {"/text": Author.STRANGER})
    )
    async def read_table(call: Call, name: Query) -> Result:
        """Read a file as a table."""
        text, _ = store.get(name)
        raise ToolFailed("no_table", f"line 1 is no row: {text}")

    return (read_table,)


def _helper() -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.AGENT, "helper"))
    async def tell_helper(call: Call, text: Words) -> Pending:
        """Tell another agent something and wait for its answer."""
        return Pending(call.key, operations=(Post(AgentId("helper"), HELPER, (Text(text),)),))

    return (tell_helper,)
