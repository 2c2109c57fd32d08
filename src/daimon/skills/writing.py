"""How a skill that was learned is written: a `SKILL.md` with its head, when to use it, the steps, and what to check.

The same lesson gives the same bytes. A refinement adds lines to the section `Check` and changes nothing else, so that what the owner wrote
into it stays, and the difference is short.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from daimon.abi.skill import MOST_DESCRIPTION

CHECK = "## Check"
EVIDENCE = "daimon-evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    name: str
    description: str
    asked: str
    """The request, without what is personal."""
    triggers: tuple[str, ...]
    tools: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    """Each its lines; the first is numbered."""
    checks: tuple[str, ...]
    turns: tuple[str, ...]


def written(page: Page) -> str:
    head = {
        "daimon-triggers": "; ".join(page.triggers),
        "daimon-tools": " ".join(page.tools),
        "daimon-origin": "learned",
        EVIDENCE: " ".join(page.turns),
    }
    lines = [
        "---",
        f"name: {page.name}",
        f"description: {_quoted(page.description[:MOST_DESCRIPTION])}",
        "metadata:",
        *(f"  {name}: {_quoted(value)}" for name, value in head.items() if value),
        "---",
        "",
        f"# {page.name}",
        "",
        f"Asked for as: {page.asked}",
        "",
        "Drawn from the record of what worked. A word in angle brackets stands for what is another one each time.",
        "",
        "## Steps",
        "",
        *_numbered(page.steps),
    ]
    checks = ["", CHECK, "", *(f"- {check}" for check in page.checks)] if page.checks else []
    return "\n".join([*lines, *checks]) + "\n"


def refined(text: str, checks: Iterable[str], turns: Sequence[str]) -> str:
    """The text with what else to check, and the turns that showed it. Unchanged if it says all of it."""
    lines = text.rstrip("\n").split("\n")
    new = [f"- {check}" for check in dict.fromkeys(checks) if f"- {check}" not in lines]
    if not new:
        return text
    return "\n".join(_with_evidence(_with_checks(lines, new), turns)) + "\n"


def _with_checks(lines: list[str], new: list[str]) -> list[str]:
    if CHECK not in lines:
        return [*lines, "", CHECK, "", *new]
    begins = lines.index(CHECK) + 1
    ends = next((i for i in range(begins, len(lines)) if lines[i].startswith("#")), len(lines))
    while ends > begins and not lines[ends - 1].strip():
        ends -= 1
    return [*lines[:ends], *([""] if ends == begins else []), *new, *lines[ends:]]


def _with_evidence(lines: list[str], turns: Sequence[str]) -> list[str]:
    """Only where its head names some: it is ours then."""
    for i, line in enumerate(lines):
        if line.startswith(f"  {EVIDENCE}: "):
            before = line.partition(": ")[2].strip('"').split()
            return [*lines[:i], f"  {EVIDENCE}: {_quoted(' '.join(dict.fromkeys((*before, *turns))))}", *lines[i + 1 :]]
    return lines


def _numbered(steps: Iterable[tuple[str, ...]]) -> list[str]:
    return [line for n, (first, *rest) in enumerate(steps, 1) for line in (f"{n}. {first}", *rest)]


def _quoted(text: str) -> str:
    """A text of JSON is one of YAML. Readers do not agree on what `---` means in a head."""
    return json.dumps(text.replace("---", "—"), ensure_ascii=False)
