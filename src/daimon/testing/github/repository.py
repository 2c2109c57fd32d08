"""One repository: issues with labels, assignees and comments, and who may change them.

Every change that was made is in `changes`, in order, so that a test can say what a maintainer would see, and how often.
"""

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(slots=True)
class Issue:
    number: int
    title: str
    body: str = ""
    state: str = "open"
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def wire(self, home: str) -> dict[str, JsonValue]:
        """As the API and webhooks show it."""
        return {
            "id": 1_000_000 + self.number,
            "number": self.number,
            "url": f"{home}/issues/{self.number}",
            "title": self.title,
            "body": self.body,
            "state": self.state,
            "user": {"login": "somebody", "type": "User"},
            "labels": [{"name": name} for name in self.labels],
            "assignees": [{"login": login} for login in self.assignees],
            "comments": len(self.comments),
        }


@dataclass(frozen=True, slots=True)
class Change:
    method: str
    path: str
    body: JsonValue
    by: str
    """The name of the token."""


@dataclass(slots=True)
class Repository:
    owner: str
    name: str
    labels: tuple[str, ...] = ("bug", "feature", "question", "docs")
    people: tuple[str, ...] = ("ada", "grace")
    """Who can be assigned."""
    issues: dict[int, Issue] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/repos/{self.owner}/{self.name}"

    def open(self, title: str, body: str = "") -> Issue:
        number = len(self.issues) + 1
        self.issues[number] = Issue(number, title, body)
        return self.issues[number]

    def changed(self, path: str) -> list[Change]:
        return [change for change in self.changes if change.path == path]
