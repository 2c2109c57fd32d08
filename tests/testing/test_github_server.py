"""The loopback GitHub refuses as the real one does."""

import json

import httpx2
import pytest

from daimon.testing.github.methods import Token
from daimon.testing.github.repository import Repository
from daimon.testing.github.server import TOKEN, GitHubServer, delivery

LABELS = "/repos/acme/widgets/issues/1/labels"


async def answer(github: GitHubServer, path: str, body: object, token: str = TOKEN) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        head = {"Authorization": f"Bearer {token}"}
        return await client.post(f"http://127.0.0.1:{github.port}{path}", headers=head, content=json.dumps(body).encode())


@pytest.mark.parametrize(
    ("path", "body", "token", "status"),
    [
        (LABELS, {"labels": ["bug"]}, TOKEN, 200),
        ("/repos/acme/widgets/issues/1/assignees", {"assignees": ["ada"]}, TOKEN, 201),
        ("/repos/acme/widgets/issues/1/comments", {"body": "seen"}, TOKEN, 201),
        (LABELS, {"labels": ["bug"]}, "nobody", 401),
        (LABELS, {"labels": ["bug"]}, "reader", 403),
        ("/repos/acme/widgets/issues/9/labels", {"labels": ["bug"]}, TOKEN, 404),
        ("/repos/acme/other/issues/1/labels", {"labels": ["bug"]}, TOKEN, 404),
        (LABELS, {"labels": "bug"}, TOKEN, 422),
        (LABELS, {}, TOKEN, 422),
        (LABELS, ["bug"], TOKEN, 400),
    ],
)
async def test_it_answers_as_github_does_and_keeps_what_was_changed(path: str, body: object, token: str, status: int) -> None:
    async with GitHubServer(Repository("acme", "widgets")) as github:
        github.repository.open("It crashes")
        github.tokens["reader"] = Token("reader", "read")
        assert (await answer(github, path, body, token)).status_code == status
        assert len(github.repository.changes) == (status < 300)


async def test_who_asks_too_often_is_told_to_wait() -> None:
    async with GitHubServer(Repository("acme", "widgets"), hourly=1) as github:
        issue = github.repository.open("It crashes")
        assert (await answer(github, LABELS, {"labels": ["bug"]})).headers["x-ratelimit-remaining"] == "0"
        refused = await answer(github, LABELS, {"labels": ["docs"]})
        assert (refused.status_code, refused.headers["retry-after"], issue.labels) == (403, "60", ["bug"])


@pytest.mark.parametrize(("fault", "labels"), [("cut", []), ("cut after", ["bug"])])
async def test_a_connection_ends_before_or_after_the_change(fault: str, labels: list[str]) -> None:
    async with GitHubServer(Repository("acme", "widgets")) as github:
        issue = github.repository.open("It crashes")
        github.fail(fault)  # type: ignore[arg-type]  # one of its words
        with pytest.raises(httpx2.HTTPError):
            await answer(github, LABELS, {"labels": ["bug"]})
        assert issue.labels == labels


def test_a_delivery_is_signed_anew_for_each_secret() -> None:
    repository = Repository("acme", "widgets")
    issue = repository.open("It crashes")
    (body, one), (same, other) = delivery(repository, issue, "a"), delivery(repository, issue, "b")
    assert body == same
    assert one["x-hub-signature-256"] != other["x-hub-signature-256"]
