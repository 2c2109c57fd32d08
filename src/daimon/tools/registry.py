"""The table of system calls.

A tool is in the table or it does not exist for a model. Registering reviews its manifest; from then on the reviewed one counts, even if
the tool shows another later. `hash` pins the whole table and `hash_of` one manifest: a call is allowed under a manifest, and its intent
says under which.

Arguments are checked here, before the gate and before anything is written as intended. Tools from elsewhere, which are only promised to
have a manifest and to run, are checked against their schema, with the same words. The registry runs nothing.
"""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from daimon.abi.codec import encode, fingerprint
from daimon.abi.errors import BadInput, Misconfigured
from daimon.abi.tool import Manifest, Tool
from daimon.tools.fit import misfits, refusal
from daimon.tools.review import review
from daimon.tools.schema import Built
from daimon.tools.shape import Object


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    manifest: Manifest
    shape: Object
    hash: str


class Registry:
    def __init__(self, tools: Iterable[Tool], others: Iterable[Tool] = ()) -> None:
        """`others` are those that are not Daimon's own: what they say of themselves are somebody else's words."""
        entries: dict[str, _Entry] = {}
        own = tuple(tools)
        for each in (*own, *others):
            entry = _entry(each)
            if entry.manifest.name in entries:
                raise Misconfigured(f"two tools are called {entry.manifest.name}; rename or leave out one of them")
            entries[entry.manifest.name] = entry
        self._own = frozenset(list(entries)[: len(own)])
        self._entries = dict(sorted(entries.items(), key=lambda item: (item[0] not in self._own, item[0])))
        self.hash = fingerprint(str, " ".join(entry.hash for _, entry in sorted(self._entries.items())))

    def is_own(self, name: str) -> bool:
        return name in self._own

    def get(self, name: str) -> Tool:
        return self._entry(name).tool

    def manifests(self) -> tuple[Manifest, ...]:
        """Daimon's own by name, then the others by name, so that a prompt made of them is the same every time."""
        return tuple(entry.manifest for entry in self._entries.values())

    def hash_of(self, name: str) -> str:
        return self._entry(name).hash

    def check(self, name: str, arguments: JsonValue) -> dict[str, JsonValue]:
        """The arguments, as they are, if the tool can take them. Raises BadInput with what to mend."""
        entry = self._entry(name)
        if isinstance(entry.tool, Built):
            entry.tool.check(arguments)
        elif faults := misfits(entry.shape, arguments, entry.manifest.roles):
            raise refusal(name, faults)
        return cast("dict[str, JsonValue]", arguments)

    def _entry(self, name: str) -> _Entry:
        if entry := self._entries.get(name):
            return entry
        nearest = difflib.get_close_matches(name, self._entries, n=3, cutoff=0.4) or list(self._entries)
        raise BadInput(f"there is no tool {name[:64]!r}; there is {', '.join(nearest) or 'none at all'}")


def hash_manifest(manifest: Manifest) -> str:
    """Dicts have an order of their own, so they are sorted first: equal manifests have equal hashes in every process."""
    data = json.loads(encode(Manifest, manifest))
    return fingerprint(str, json.dumps(data, sort_keys=True))


def _entry(candidate: Tool) -> _Entry:
    manifest = getattr(candidate, "manifest", None)
    if not isinstance(manifest, Manifest):
        raise Misconfigured(f"{type(candidate).__name__} has no manifest, so it is no tool")
    return _Entry(candidate, manifest, review(manifest), hash_manifest(manifest))
