"""A skill as its files say it: the Agent Skills format, checked. Pure.

`SKILL.md` has a head of six fields and a body. `read` gives the skill or raises one `BadInput` with all faults, each with what, with which
value, and what to do. Ours stands under `metadata`, where the format has room for it: `daimon-triggers`, and what the skill requires
(`requirements.py`). Unknown fields are faults.

It is never looser than the format's reference validator, and stricter where a reader could be led astray: see docs/skills.md.
"""

import re
from collections.abc import Mapping

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.invisible import visible
from daimon.abi.skill import MOST_COMPATIBILITY, MOST_DESCRIPTION, MOST_NAME, Skill
from daimon.skills import head
from daimon.skills.bundle import Bundle
from daimon.skills.requirements import PREFIX, requires_of

SKILL = "SKILL.md"
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
TRIGGERS, ORIGIN, USES = f"{PREFIX}triggers", f"{PREFIX}origin", f"{PREFIX}uses"
MOST_TRIGGERS, MOST_TRIGGER, MOST_LICENSE = 32, 80, 500
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
"""`Read`, `Bash(git add:*)`."""


def read(folder: str, bundle: Bundle) -> Skill:
    """`folder`: the name of its directory; empty where it lies in none, as at the top of an archive. Raises BadInput, TooLarge."""
    text = _text(bundle)
    above, body = head.split(text)
    found = head.fields(above)
    faults = [*_faults_of_fields(found), *_faults_of_name(found.get("name"), folder), *_faults_of_texts(found)]
    metadata = _metadata(found.get("metadata", {}), faults)
    requires, more = requires_of(metadata)
    triggers = _triggers(metadata.get(TRIGGERS, ""), faults)
    if faults := [*faults, *more]:
        raise BadInput(f"SKILL.md of {folder or 'the skill'} cannot be used: " + "; ".join(faults))
    return Skill(
        name=str(found["name"]).strip(),
        description=str(found["description"]).strip(),
        body=body,
        license=str(found.get("license", "")),
        compatibility=str(found.get("compatibility", "")),
        metadata=metadata,
        allowed_tools=_tools(found.get("allowed-tools", "")),
        triggers=triggers,
        requires=requires,
        files=tuple(sorted(path for path in bundle if path != SKILL)),
    )


def body_of(data: bytes) -> str:
    """What stands below the head of a `SKILL.md` that was read before."""
    return head.split(decoded(data, SKILL))[1]


def decoded(data: bytes, path: str) -> str:
    """Raises BadInput."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as broken:
        raise BadInput(f"{path} is no text in UTF-8: byte {broken.start} is {data[broken.start]:#04x}; save it as UTF-8") from None


def _text(bundle: Bundle) -> str:
    if SKILL not in bundle:
        near = next((path for path in bundle if path.lower() == SKILL.lower()), "")
        what = f"it has {near}, which must be called {SKILL}" if near else "is this the right directory?"
        raise BadInput(f"there is no {SKILL}; {what}")
    if (size := len(bundle[SKILL].data)) > head.MOST_TEXT:
        raise TooLarge(f"{SKILL} has {size:,} bytes; {head.MOST_TEXT:,} are the most. Move what is rarely needed to references/")
    return decoded(bundle[SKILL].data, SKILL)


def _faults_of_fields(found: Mapping[str, head.Value]) -> list[str]:
    unknown = sorted(set(found) - set(FIELDS))
    shown = ", ".join(repr(name[:40]) for name in unknown)
    faults = [f"it has the fields {shown}, and there are only {', '.join(FIELDS)}; move them below metadata"] if unknown else []
    return faults + [f"the field {name} is missing; it is required" for name in ("name", "description") if name not in found]


def _faults_of_name(given: head.Value | None, folder: str) -> list[str]:
    if given is None:
        return []
    name = given.strip() if isinstance(given, str) else ""
    if len(name) > MOST_NAME:
        return [f"the name has {len(name)} characters; {MOST_NAME} are the most"]
    if not _NAME.fullmatch(name):
        return [f"the name is {name!a}; it must be of small letters, digits and single hyphens between them, such as read-feeds"]
    if folder and folder != name:
        return [f"the name is {name}, and its directory is called {folder[:80]!a}; both must be the same"]
    return []


def _faults_of_texts(found: Mapping[str, head.Value]) -> list[str]:
    most = {"description": MOST_DESCRIPTION, "compatibility": MOST_COMPATIBILITY, "license": MOST_LICENSE}
    return [fault for name, limit in most.items() if name in found and (fault := _fault_of_text(name, found[name], limit))]


def _fault_of_text(name: str, value: head.Value, most: int) -> str:
    if not isinstance(value, str) or (name == "description" and not value.strip()):
        return f"{name} is empty or no text; write a sentence or two"
    if len(value) > most:
        return f"{name} has {len(value):,} characters; {most:,} are the most"
    hidden = visible(value)[1]
    return f"{name} holds {hidden} signs that nobody sees, such as one that turns a line round; take them out" if hidden else ""


def _metadata(given: head.Value, faults: list[str]) -> dict[str, str]:
    if given == "":
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        faults.append("metadata is no list of names and texts; write lines such as `  author: me` below it")
        return {}
    found = {name: str(value) for name, value in given.items()}
    faults += [f"{name[:40]!r} in metadata holds signs that nobody sees; take them out" for name in found if _is_hiding(name, found[name])]
    return found


def _is_hiding(name: str, value: str) -> bool:
    return bool(visible(name)[1] or visible(value)[1])


def _triggers(given: str, faults: list[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(" ".join(each.split()) for each in re.split(r"[;\n]", given) if each.strip()))
    if len(found) > MOST_TRIGGERS or any(len(each) > MOST_TRIGGER for each in found):
        faults.append(f"{TRIGGERS} has {len(found)} entries; {MOST_TRIGGERS} of {MOST_TRIGGER} characters each are the most")
    return found


def _tools(given: head.Value) -> tuple[str, ...]:
    """They grant nothing here: what a skill may do is what it requires, and what the owner agreed to."""
    words = given if isinstance(given, str) else " ".join(each for each in given if isinstance(each, str))
    return tuple(dict.fromkeys(_TOOL.findall(words)))
