"""The table of system calls.

A tool is in the table or it does not exist for a model. Registering reviews its manifest; from then on the reviewed one counts, even if
the tool shows another later. Groups of tools come and go while Daimon runs (`put`): those of a connected server, those of a skill. `hash`
pins the whole table and `hash_of` one manifest: a call is allowed under a manifest, and its intent says under which.

Arguments are checked here, before the gate and before anything is written as intended. Tools from elsewhere, which are only promised to
have a manifest and to run, are checked against their schema, with the same words. The registry runs nothing.
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from daimon.abi.codec import encode, fingerprint
from daimon.abi.errors import BadInput, Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import Manifest, Tool
from daimon.tools.fit import misfits, refusal
from daimon.tools.review import review
from daimon.tools.schema import Built
from daimon.tools.shape import Object

_OWN, _OTHERS = "", "extensions"


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    manifest: Manifest
    shape: Object
    hash: str


class Registry:
    def __init__(self, tools: Iterable[Tool], others: Iterable[Tool] = ()) -> None:
        """`others` are those that are not Daimon's own: what they say of themselves are somebody else's words."""
        own = [_entry(each) for each in tools]
        self._own = frozenset(entry.manifest.name for entry in own)
        self._groups = {_OWN: own, _OTHERS: [_entry(each) for each in others]}
        self._entries, self.hash = self._joined(self._groups)

    def put(self, group: str, tools: Iterable[Tool]) -> None:
        """These are the tools of a group from now on, and no others. Raises Misconfigured, and then all is as it was."""
        if group in (_OWN, _OTHERS):
            raise Misconfigured(f"a group of tools cannot be called {group!r}")
        groups = {**self._groups, group: [_entry(each) for each in tools]}
        self._entries, self.hash = self._joined(groups)
        self._groups = {name: entries for name, entries in groups.items() if entries or name in (_OWN, _OTHERS)}

    def _joined(self, groups: Mapping[str, list[_Entry]]) -> tuple[dict[str, _Entry], str]:
        entries: dict[str, _Entry] = {}
        for entry in (each for group in groups.values() for each in group):
            if entry.manifest.name in entries:
                raise Misconfigured(f"two tools are called {entry.manifest.name}; rename or leave out one of them")
            entries[entry.manifest.name] = entry
        ordered = dict(sorted(entries.items(), key=lambda item: (item[0] not in self._own, item[0])))
        return ordered, fingerprint(str, " ".join(entry.hash for _, entry in sorted(ordered.items())))

    def is_own(self, name: str) -> bool:
        return name in self._own

    def is_told_by_us(self, name: str) -> bool:
        """What it says of itself are Daimon's own words: it is one of its tools, or one that Daimon wrote for a group."""
        made = (each.manifest for group, entries in self._groups.items() if group not in (_OWN, _OTHERS) for each in entries)
        return name in self._own or any(each.name == name and each.author is Author.SERVICE for each in made)

    def get(self, name: str) -> Tool:
        return self._entry(name).tool

    def manifests(self) -> tuple[Manifest, ...]:
        """Daimon's own by name, then the others by name, so that a prompt made of them is the same every time."""
        return tuple(entry.manifest for entry in self._entries.values())

    def names(self) -> frozenset[str]:
        return frozenset(self._entries)

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
    if manifest.author is Author.SERVICE:
        del data["author"]  # came later than calls that wait under a hash
    return fingerprint(str, json.dumps(data, sort_keys=True))


def _entry(candidate: Tool) -> _Entry:
    manifest = getattr(candidate, "manifest", None)
    if not isinstance(manifest, Manifest):
        raise Misconfigured(f"{type(candidate).__name__} has no manifest, so it is no tool")
    return _Entry(candidate, manifest, review(manifest), hash_manifest(manifest))
