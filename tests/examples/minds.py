"""Two models for the triage: one that follows its task by reading it, and one that strangers have taken over."""

import json
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from tests.examples.reading import Did, Page, page

from daimon.testing.provider.line import Call, Fault, Line
from daimon.testing.provider.seen import Seen

KINDS = {
    "bug": ("crash", "error", "traceback", "broken", "fails"),
    "feature": ("add", "support", "wish", "allow"),
    "question": ("how", "why", "where"),
    "docs": ("readme", "typo", "manual", "documentation"),
}
_REMEMBERED = re.compile(r"triage #\d+ (\w+): (.*?)(?: \(|$)")
_ON_CALL = re.compile(r"(\w+) is on call")
_LINE = re.compile(r"- #(\d+) (\w+): (.*)")


@dataclass(slots=True)
class Clerk:
    """Follows its task: reads what came, what it remembers and what was done in this turn, and does the next thing."""

    faults: dict[str, Fault] = field(default_factory=dict)
    """By the job and how many calls of tools there were in its turn before."""

    def __call__(self, seen: Seen) -> Line:
        read = page(seen)
        if fault := self.faults.pop(f"{read.job} {len(read.did)}", None):
            return Line(fault=fault)
        if read.job == "triage":
            return _triage(read)
        return _digest(read) if read.job == "digest" else _chat(read)


def _chat(read: Page) -> Line:
    wanted = read.said.partition("remember that ")[2]
    return Line(calls=(Call("remember", {"text": wanted}),)) if wanted and not read.did else Line(text="Noted.")


def _triage(read: Page) -> Line:
    came = read.data["deliveries"]
    recalled = [did for did in read.did if did.tool == "recall"]
    if not recalled:
        titles = [delivery["data"]["issue"]["title"] for delivery in came]
        days = sorted({delivery["at"][:10] for delivery in came})
        looks = [Call("recall", {"query": query, "limit": 5}) for query in ("on call", *titles)]
        return Line(calls=(*looks, *(Call("read_file", {"path": f"triage/{day}.md"}) for day in days)))
    notes = [note["text"] for did in recalled for note in _data(did).get("notes", ())]
    for delivery in came:
        issue, day = delivery["data"]["issue"], delivery["at"][:10]
        kind, is_hard = _kind(issue["title"], notes)
        asked = [did for did in read.did if did.tool == "http_request" and f"/issues/{issue['number']}/" in did.arguments["url"]]
        if not asked:
            return Line(calls=tuple(_changes(read.task, issue["number"], kind, notes)))
        note = f"triage #{issue['number']} {kind}: {issue['title']}"
        if not any(did.tool == "remember" and did.arguments["text"].startswith(note) for did in read.did):
            refused = next((f" (not labelled: {_status(did)})" for did in asked if _status(did) not in ("200", "201")), "")
            line = f"- #{issue['number']} {kind}: {issue['title']}{' (hard)' if is_hard else ''}{refused}\n"
            path, text = f"triage/{day}.md", _log(read.did, f"triage/{day}.md")
            return Line(calls=(Call("write_file", {"path": path, "content": text + line}), Call("remember", {"text": note})))
    return Line(text="")


def _changes(task: str, number: int, kind: str, notes: list[str]) -> list[Call]:
    found = re.search(r"https://\S+/repos/\w+/\w+", task)
    assert found
    who = next((match[1] for note in notes if (match := _ON_CALL.search(note))), "")
    bodies = {"labels": [kind]} | ({"assignees": [who]} if kind == "bug" and who else {})
    return [
        Call(
            "http_request",
            {
                "method": "POST",
                "url": f"{found[0]}/issues/{number}/{what}",
                "body": json.dumps({what: names}),
                "headers": ["Authorization: Bearer {vault:github}"],
                "secrets": ["github"],
            },
        )
        for what, names in bodies.items()
    ]


def _kind(title: str, notes: list[str]) -> tuple[str, bool]:
    """By its words; else as the earlier decision with the most words in common; else it is a hard one."""
    words = set(re.findall(r"\w+", title.lower()))
    for kind, signs in KINDS.items():
        if words & set(signs):
            return kind, False
    earlier = [match for note in notes if (match := _REMEMBERED.match(note))]
    alike = max(earlier, key=lambda match: len(words & set(match[2].lower().split())), default=None)
    if alike is not None and len(words & set(alike[2].lower().split())) >= 2:
        return alike[1], False
    return "question", True


def _log(did: tuple[Did, ...], path: str) -> str:
    """As it was last read or written."""
    text = ""
    for each in did:
        if each.tool == "write_file" and each.arguments["path"] == path:
            text = each.arguments["content"]
        elif each.tool == "read_file" and each.arguments["path"] == path:
            text = _text(each)
    return text


def _digest(read: Page) -> Line:
    if not read.did:
        return Line(calls=(Call("now", {}),))
    if not any(did.tool == "read_file" for did in read.did):
        told = re.search(r"\d{4}-\d\d-\d\d", json.dumps(read.did[0].result))
        assert told
        today = date.fromisoformat(told[0])
        return Line(calls=tuple(Call("read_file", {"path": f"triage/{day}.md"}) for day in (today - timedelta(days=1), today)))
    found = [line for did in read.did if did.tool == "read_file" for line in _LINE.findall(_text(did))]
    kinds = [kind for _, kind, _ in found]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS)
    hard = "".join(f"\n- #{number} {title}" for number, _, title in found if title.endswith(")"))
    return Line(text=f"Triage: {counts}.{' Hard cases:' if hard else ''}{hard}")


def _data(did: Did) -> dict[str, Any]:
    found = did.result.get("data") if isinstance(did.result, dict) else None
    return found if isinstance(found, dict) else {}


def _text(did: Did) -> str:
    return str(_data(did).get("text", ""))


def _status(did: Did) -> str:
    return str(_data(did).get("status", "failed"))


@dataclass(slots=True)
class Hijacked:
    """Does whatever an issue tells it to, and whatever else comes to mind; its last words repeat all that it heard."""

    wishes: list[Call]
    tried: list[Did] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Line:
        read = page(seen)
        if read.job != "triage":
            return Line(text="Noted.")
        self.tried = list(read.did)
        return Line(calls=tuple(self.wishes)) if not read.did else Line(text="")
