"""Skills: programs on disk that a model reads and follows, in the form of Agent Skills (`SKILL.md`).

A skill is text and files of somebody else until the owner vouches for it. What it may do is its `Requires`: the owner sees it before the
first use and says yes once, to exactly this version. A version is the hash of all its files; what is not the version that was agreed to
is not used.
"""

import hashlib
import zlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from daimon.abi.curator import Forgotten
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.trace import Traces

MOST_NAME, MOST_DESCRIPTION, MOST_COMPATIBILITY = 64, 1024, 500
_MOST_TOOL = 64
State = Literal["ready", "disabled", "unapproved", "changed", "broken"]
"""unapproved: the owner has not said yes to what it requires. changed: its files are not those that were installed."""
Deed = Literal["approve", "vouch", "unvouch", "disable", "enable"]
"""What the owner does with one that is there."""


@dataclass(frozen=True, slots=True)
class Requires:
    """What a skill needs beyond being read. Empty: nothing."""

    tools: tuple[str, ...] = ()
    """Of Daimon, that its steps name."""
    hosts: tuple[str, ...] = ()
    """That its scripts reach, such as api.example.org or example.org:8443."""
    secrets: tuple[str, ...] = ()
    """Names of the vault; a script finds each in a variable of the same name in capitals, as a placeholder."""
    files: Literal["none", "read", "write"] = "none"
    """What its scripts may do in the workspace."""


@dataclass(frozen=True, slots=True)
class Skill:
    """What a directory with a `SKILL.md` says."""

    name: str
    description: str
    body: str = ""
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    """Words and phrases; where one stands in what the owner says, the skill is proposed."""
    requires: Requires = Requires()
    files: tuple[str, ...] = ()
    """Paths besides `SKILL.md`, sorted."""

    @property
    def scripts(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if path.startswith("scripts/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A skill of this home."""

    skill: Skill
    version: str
    """The hash of all its files."""
    source: str
    """Where it came from: a directory, an address, `learned`."""
    revision: str = ""
    """Of a repository."""
    at: datetime
    state: State = "ready"
    why: str = ""
    """Why it is in that state, in words."""
    is_vouched: bool = False
    """The owner has read it, and answers for its words."""
    is_approved: bool = False
    """The owner has said yes to what this version requires."""
    asks: tuple[str, ...] = ()
    """What it requires, in words."""

    @property
    def name(self) -> str:
        return self.skill.name

    @property
    def called(self) -> str:
        """What a model may be told it is called before it has read a word of it: a name is its author's word, too."""
        return self.name if self.is_vouched else alias_of(self.name)

    @property
    def origin(self) -> str:
        """As labels name it."""
        return origin_of(self.name)

    @property
    def label(self) -> Label:
        """Of everything in it."""
        author = Author.OWNER if self.is_vouched else Author.STRANGER
        return Label.of(Origin(author, self.origin), readers=(OWNER,) if self.is_vouched else None)


@dataclass(frozen=True, slots=True)
class Piece:
    """A file of a skill."""

    path: str
    size: int
    is_executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What somebody wants to install, as the owner sees it before they say yes."""

    skill: Skill
    version: str
    source: str
    revision: str = ""
    files: tuple[Piece, ...] = ()
    asks: tuple[str, ...] = ()
    """What it requires, in words."""
    remarks: tuple[str, ...] = ()
    """What is odd about it, and no reason to refuse it."""
    before: Installed | None = None
    """What it would replace."""
    more: tuple[str, ...] = ()
    """What it requires beyond what was agreed to, in words. Of one that replaces nothing: all."""
    diff: str = ""
    """Of the files, against those of before."""

    @property
    def is_same(self) -> bool:
        return self.before is not None and self.before.version == self.version


@dataclass(frozen=True, slots=True)
class Trial:
    """Something about a skill that was looked at."""

    what: str
    is_well: bool
    said: str = ""


@dataclass(frozen=True, slots=True)
class Tested:
    name: str
    version: str
    trials: tuple[Trial, ...]

    @property
    def is_well(self) -> bool:
        return all(trial.is_well for trial in self.trials)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What goes, or went, with a skill."""

    name: str
    version: str
    files: tuple[str, ...] = ()
    """Its own."""
    tools: tuple[str, ...] = ()
    forgotten: Forgotten
    """Words of it, in memory and journal."""
    traces: Traces
    """What was made of them. `made` is taken away; `changed` is yours to look at."""
    undo: str = ""
    """The checkpoint of the workspace from before: going back to it brings back the files that were made."""
    notes: tuple[str, ...] = ()
    """What could not be taken away, and why."""


def origin_of(name: str) -> str:
    return f"skill:{name}"


def alias_of(name: str) -> str:
    """In place of a name that nobody vouches for. No skill can be called so: a name has no `_`."""
    return f"stranger_{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def script_tool_of(called: str) -> str:
    """The tool that runs its scripts. A name has 64 signs at most, and that of a tool as well."""
    plain = f"skill_{called.replace('-', '_')}"
    return plain if len(plain) <= _MOST_TOOL else f"{plain[: _MOST_TOOL - 9]}_{zlib.crc32(called.encode()):08x}"


def script_tools_of(name: str) -> tuple[str, str]:
    """Whatever it is called, or was."""
    return script_tool_of(name), script_tool_of(alias_of(name))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A skill that may help with what was said."""

    name: str
    description: str
    """Empty where nobody vouches for its words."""
    label: Label
    why: str
    """trigger, words, meaning"""
    called: str
    """What the model is told that it is called."""
    heard: str = ""
    """Of one that nobody vouches for: the words of the owner's that brought it up."""


class Suggests(Protocol):
    """The skills, as the context sees them."""

    async def suggest(self, question: str) -> tuple[Suggestion, ...]:
        """The best first; none where nothing fits."""
        ...


class Shelf(Protocol):
    """The skills, as tools see them."""

    def ready(self) -> tuple[Installed, ...]:
        """Those that may be used, by name."""
        ...

    async def find(self, query: str) -> tuple[Installed, ...]:
        """The best first."""
        ...

    async def read(self, name: str, path: str = "SKILL.md") -> tuple[Installed, str]:
        """The text of one of its files; of `SKILL.md` without its head. Raises NotFound, and ToolFailed where it has changed on disk, is
        no text, or is too long."""
        ...


class Librarian(Protocol):
    """The skills, as their owner keeps them. Names that are not there raise NotFound; what cannot be done now, BadInput."""

    async def all(self) -> tuple[Installed, ...]:
        """By name. Their texts may be left out."""
        ...

    async def one(self, name: str) -> Installed:
        """With its text."""
        ...

    async def offer(self, source: str) -> Offer:
        """What `install` would bring; nothing is changed. A source is a directory, an archive or a repository; or the name of a skill
        that is installed: where that one came from. Raises BadInput, TooLarge, Misconfigured."""
        ...

    async def install(self, source: str, version: str = "", is_approved: bool = False) -> Installed:
        """`version`: as it was offered. Raises Outdated where it is another one by now, and what `offer` raises."""
        ...

    async def change(self, name: str, deed: Deed) -> Installed: ...

    async def test(self, name: str) -> Tested:
        """Its form, its files, and what its own tests say, each run in its box with its grant."""
        ...

    async def foresee_removal(self, name: str) -> Removal:
        """What would go. Raises BadInput while a turn is under way that has words of it."""
        ...

    async def remove(self, name: str) -> Removal:
        """All that came from it: files, tools, words in memory and journal, and what was made of those. A removal that was cut off goes on
        where it was. Raises as above, and then nothing has changed."""
        ...
