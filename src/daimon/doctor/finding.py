"""What a look at a home found: one sentence on what is, one on what to do."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "note", "warning", "error"]
ORDER: tuple[Severity, ...] = ("ok", "note", "warning", "error")


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Severity
    area: str
    what: str
    todo: str = ""


def worst(findings: tuple[Finding, ...]) -> Severity:
    return max((each.severity for each in findings), key=ORDER.index, default="ok")
