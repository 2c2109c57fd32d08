"""What the API does for whom, and how it refuses: who is nobody (401), who may not (403), what is not there (404), what is nonsense (422).

A fine-grained token has permissions for issues: `read` or `write`. What it may not see is not there, as GitHub has it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.testing.github.repository import Change, Issue, Repository
from daimon.testing.provider.wire import Asked

_NOT_OURS = "Resource not accessible by personal access token"


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    issues: Literal["read", "write"] = "write"


class Refusal(Exception):
    def __init__(self, status: int, why: str, errors: JsonValue = None) -> None:
        super().__init__(why)
        self.status = status
        self.wire: dict[str, JsonValue] = {"message": why, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
        if errors is not None:
            self.wire["errors"] = errors


class Methods:
    def __init__(self, repository: Repository, tokens: dict[str, Token]) -> None:
        self._repository = repository
        self._tokens = tokens
        self._table: dict[tuple[str, str], Callable[[Issue, dict[str, JsonValue]], tuple[int, JsonValue]]] = {
            ("GET", ""): lambda issue, _: (200, self._wire(issue)),
            ("PATCH", ""): self._edit,
            ("POST", "/labels"): self._add_labels,
            ("PUT", "/labels"): self._set_labels,
            ("POST", "/assignees"): self._assign,
            ("POST", "/comments"): self._comment,
        }

    def call(self, asked: Asked) -> tuple[int, JsonValue]:
        """Raises Refusal."""
        token = self._who(asked)
        if asked.method == "GET" and asked.path == f"{self._repository.path}/issues":
            return 200, [self._wire(issue) for issue in self._repository.issues.values() if issue.state == "open"]
        found = re.fullmatch(re.escape(self._repository.path) + r"/issues/(\d{1,9})(/\w+|)", asked.path)
        issue = self._repository.issues.get(int(found[1])) if found else None
        act = self._table.get((asked.method, found[2])) if found else None
        if issue is None or act is None:
            raise Refusal(404, "Not Found")
        if asked.method != "GET" and token.issues != "write":
            raise Refusal(403, _NOT_OURS)
        body = _object(asked.body) if asked.method != "GET" else {}
        answer = act(issue, body)
        if asked.method != "GET":
            self._repository.changes.append(Change(asked.method, asked.path, body, token.name))
        return answer

    def _who(self, asked: Asked) -> Token:
        scheme, _, value = asked.headers.get("authorization", "").partition(" ")
        if "user-agent" not in asked.headers:
            raise Refusal(403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
        if not value:
            raise Refusal(401, "Requires authentication")
        if scheme.lower() not in ("bearer", "token") or value not in self._tokens:
            raise Refusal(401, "Bad credentials")
        return self._tokens[value]

    def _wire(self, issue: Issue) -> JsonValue:
        return issue.wire(self._repository.path)

    def _edit(self, issue: Issue, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        if body.get("state", "open") not in ("open", "closed"):
            raise _invalid("state", body.get("state"))
        issue.state = str(body.get("state", issue.state))
        issue.title, issue.body = str(body.get("title", issue.title)), str(body.get("body", issue.body))
        return 200, self._wire(issue)

    def _add_labels(self, issue: Issue, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        """A label that there is not is made, as GitHub does."""
        issue.labels += [name for name in _names(body, "labels") if name not in issue.labels]
        return 200, [{"name": name} for name in issue.labels]

    def _set_labels(self, issue: Issue, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        issue.labels = _names(body, "labels")
        return 200, [{"name": name} for name in issue.labels]

    def _assign(self, issue: Issue, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        """Who cannot be assigned is passed over in silence, as GitHub does."""
        wanted = _names(body, "assignees")
        issue.assignees += [login for login in wanted if login in self._repository.people and login not in issue.assignees]
        return 201, self._wire(issue)

    def _comment(self, issue: Issue, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        text = body.get("body")
        if not isinstance(text, str) or not text.strip():
            raise _invalid("body", text)
        issue.comments.append(text)
        return 201, {"id": len(issue.comments), "body": text}


def _object(body: bytes) -> dict[str, JsonValue]:
    try:
        found = json.loads(body)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    if not isinstance(found, dict):
        raise Refusal(400, "Body should be a JSON object")
    return found


def _names(body: dict[str, JsonValue], field: str) -> list[str]:
    given = body.get(field)
    names = [name for name in given if isinstance(name, str) and name] if isinstance(given, list) else []
    if not names or not isinstance(given, list) or len(names) != len(given):
        raise _invalid(field, given)
    return names


def _invalid(field: str, value: JsonValue) -> Refusal:
    return Refusal(422, "Validation Failed", [{"resource": "Issue", "field": field, "code": "invalid", "value": value}])
