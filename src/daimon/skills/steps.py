"""The steps of a skill: the calls that worked, with each value told by where it came from.

    the owner said it                       stays, without what is personal
    the tool's own schema names it          stays: a flag, one of a list
    it came from a result                   becomes `<field from step 2>`; the field is named where its words are trusted
    the model made it, and nobody else      stays if it says how (a command, a query, a path, a time), without what is personal; free text,
    had a word before that                  amounts and secrets do not
    the model made it after others          becomes `<command>`, `<path>` …: it may be somebody else's words; of a command those words stay
    had been heard                          that are nobody else's (`commands.py`)

So no word of a stranger gets in, whatever it says. A tool whose manifest nobody vouches for is not named either, nor are its arguments:
they are its author's words.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from daimon.abi.fields import Leaf, Scalar, label_at, leaves
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Capability, Manifest
from daimon.skills import commands
from daimon.skills.experience import USES_SKILL, Deed, Experience
from daimon.skills.private import Privacy

MOST_STEPS, MOST_VALUE, LEAST_INSIDE = 20, 300, 4
ABOUT_TOOLS = frozenset({"find_tools", "find_skills", "read_skill", USES_SKILL})
"""They lead to what worked, and are no part of it."""
UNNAMED = "A tool was used here that nobody vouches for; look for a fitting one with `find_tools`."
_HELD = re.compile(r"\{*\bh:[a-z]\w{1,60}:\d{1,9}\.\d{1,6}\}*")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,30}")
_HOW = frozenset({ArgumentRole.COMMAND, ArgumentRole.QUERY, ArgumentRole.TARGET, ArgumentRole.TIME, ArgumentRole.DESTINATION})
_PLACEHOLDERS = {
    ArgumentRole.CONTENT: "<text>", ArgumentRole.TITLE: "<title>", ArgumentRole.AMOUNT: "<amount>", ArgumentRole.SECRET: "<secret>",
    ArgumentRole.PERMISSION: "<permission>", ArgumentRole.COMMAND: "<command>", ArgumentRole.QUERY: "<query>",
    ArgumentRole.TARGET: "<target>", ArgumentRole.TIME: "<time>", ArgumentRole.DESTINATION: "<destination>",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A step as it is written down."""

    tool: str
    """Empty: it is not named."""
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Teller:
    """Writes down the calls of one turn."""

    words: str
    """What the owner said in it."""
    manifests: Mapping[str, Manifest]
    privacy: Privacy
    known: frozenset[str] = frozenset()
    """Words that nobody else had to say, in small letters."""
    _told: list[tuple[Told, list[Deed]]] = field(default_factory=list)

    def steps(self, deeds: Iterable[Deed]) -> tuple[Told, ...]:
        """Of calls that worked, in order. The like of the one before is not told again."""
        for deed in deeds:
            if (told := self._tell(deed)) is None:
                continue
            if self._told and self._told[-1][0] == told:
                self._told[-1][1].append(deed)
            elif len(self._told) < MOST_STEPS:
                self._told.append((told, [deed]))
        return tuple(_repeated(told, len(made)) for told, made in self._told)

    def vouched(self, tool: str) -> Manifest | None:
        manifest = self.manifests.get(tool)
        return manifest if manifest is not None and manifest.author in (Author.OWNER, Author.SERVICE) else None

    def command_of(self, deed: Deed) -> str:
        """The command of a call, if it has one and all of it can be told."""
        manifest = self.vouched(deed.tool)
        roles = {} if manifest is None else manifest.roles
        lines = [deed.arguments[name] for name, role in roles.items() if role is ArgumentRole.COMMAND and name in deed.arguments]
        line = lines[0] if len(lines) == 1 and isinstance(lines[0], str) else ""
        told = self._scalar(deed, line, None, ArgumentRole.COMMAND) if line.strip() else ""
        return told if told.startswith('"') and commands.GONE not in told else ""

    def _tell(self, deed: Deed) -> Told | None:
        manifest = self.vouched(deed.tool)
        if deed.tool in ABOUT_TOOLS or (manifest is not None and {Capability.PLANS, Capability.ASKS} & {*manifest.capabilities}):
            return None
        if manifest is None:
            return Told("", (UNNAMED,))
        known = _properties(manifest)
        given = [(name, value) for name, value in deed.arguments.items() if name in known and value not in (None, "", [], {})]
        lines = (f"   - `{name}`: {self._argument(deed, value, known[name], manifest.roles.get(name))}" for name, value in given)
        return Told(deed.tool, (f"`{deed.tool}`", *lines))

    def _argument(self, deed: Deed, value: JsonValue, schema: JsonValue, role: ArgumentRole | None) -> str:
        if role is ArgumentRole.SECRET:
            return "<secret>"
        if isinstance(value, list) and all(not isinstance(each, dict | list) for each in value):
            return ", ".join(dict.fromkeys(self._scalar(deed, each, _items(schema), role) for each in value))  # type: ignore[arg-type]
        if isinstance(value, dict | list):
            return "<value>"
        return self._scalar(deed, value, schema, role)

    def _scalar(self, deed: Deed, value: Scalar, schema: JsonValue, role: ArgumentRole | None) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        if len(text) > MOST_VALUE:
            return _placeholder(role)
        if isinstance(value, bool) or _is_named_by(schema, value) or self._says(text):
            return self._kept(text) if isinstance(value, str) else self.privacy.general(text)
        if (source := self._source(value)) is not None:
            return source
        if deed.is_clean and (role in _HOW or role is None):
            return self._kept(_HELD.sub("<held value>", self._without_results(text)))
        command = commands.told(self.privacy.general(text), self.known) if role is ArgumentRole.COMMAND else ""
        return self._kept(command) if command else _placeholder(role)

    def _kept(self, text: str) -> str:
        return json.dumps(self.privacy.general(text).strip(), ensure_ascii=False)

    def _source(self, value: Scalar) -> str | None:
        """Which step gave it."""
        if isinstance(value, bool) or value is None:
            return None
        for n, deed, leaf in self._results():
            if leaf.value == value and type(leaf.value) is type(value):
                return f"<{_field(deed, leaf)} from step {n}>"
        return None

    def _without_results(self, text: str) -> str:
        """What stands in it and came from a result gives way, the longest first."""
        inside = {
            leaf.value: f"<{_field(deed, leaf)} from step {n}>"
            for n, deed, leaf in self._results()
            if isinstance(leaf.value, str) and LEAST_INSIDE <= len(leaf.value) <= len(text) and leaf.value in text
        }
        for found in sorted(inside, key=lambda each: (-len(each), each)):
            if not self._says(found):
                text = text.replace(found, inside[found])
        return text

    def _results(self) -> Iterator[tuple[int, Deed, Leaf]]:
        for n, (_, deeds) in enumerate(self._told, 1):
            yield from ((n, deed, leaf) for deed in deeds for leaf in leaves(deed.data))

    def _says(self, text: str) -> bool:
        return _is_in(self._said, text)

    @cached_property
    def _said(self) -> str:
        return _plain(self.words)


def teller_of(lived: Experience, manifests: Mapping[str, Manifest], privacy: Privacy) -> Teller:
    return Teller("\n".join(lived.words), manifests, privacy, commands.words_of(lived.words, lived.deeds))


def says(words: str, text: str) -> bool:
    """Does this stand in what the owner said, as whole words?"""
    return _is_in(_plain(words), text)


def _is_in(plain: str, text: str) -> bool:
    wanted = _plain(text)
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain) is not None


def _field(deed: Deed, leaf: Leaf) -> str:
    """Its name is somebody's word, too."""
    is_trusted = label_at(deed.labels or {}, leaf.path, deed.label).is_trusted
    return leaf.field if is_trusted and _FIELD.fullmatch(leaf.field) else "value"


def _placeholder(role: ArgumentRole | None) -> str:
    return "<value>" if role is None else _PLACEHOLDERS.get(role, "<value>")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _properties(manifest: Manifest) -> Mapping[str, JsonValue]:
    found = manifest.parameters.get("properties")
    return found if isinstance(found, dict) else {}


def _items(schema: JsonValue) -> JsonValue:
    return schema.get("items") if isinstance(schema, dict) else None


def _is_named_by(schema: JsonValue, value: Scalar) -> bool:
    if not isinstance(schema, dict):
        return False
    options = schema.get("enum")
    return (isinstance(options, list) and value in options) or ("const" in schema and schema["const"] == value)


def _repeated(told: Told, times: int) -> Told:
    return told if times == 1 else Told(told.tool, (f"{told.lines[0]}, once for each", *told.lines[1:]))


def tools_of(steps: Sequence[Told]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.tool for step in steps if step.tool))
