"""The files of the room: whole, compressed, kept for ever under their version; nothing else is served."""

import gzip
import re
from html.parser import HTMLParser

import pytest
from tests.room.rig import Gateway

from daimon.gateway.room.assets import FIRST, PAGES, WEB


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def lines(data: bytes) -> list[str]:
    return data.decode().splitlines()


def index(daimon: Gateway, path: str = "/") -> str:
    answer = daimon.live.call_as("GET", path, None, {})
    assert answer.status == 200, answer.body
    assert answer.headers["cache-control"] == "no-store"
    return answer.body.decode()


@pytest.mark.parametrize(("page", "least"), [("/", len(FIRST) + 1), ("/enter", 2)])
def test_all_that_a_page_names_is_there_without_a_session(daimon: Gateway, page: str, least: int) -> None:
    links = Links()
    links.feed(index(daimon, page))
    assert len(links.found) >= least
    for link in links.found:
        answer = daimon.live.call_as("GET", link, None, {"Accept-Encoding": "gzip"})
        assert answer.status == 200, link
        file = WEB / re.sub(r"^/(room/\w+/)?", "", link)
        assert lines(gzip.decompress(answer.body)) == [
            line for line in lines(file.read_bytes()) if not line.lstrip().startswith(("//", "/*"))
        ]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_is_named_by_its_version_may_be_kept_for_ever(daimon: Gateway) -> None:
    (main,) = re.findall(r'src="(/room/\w+/js/main.js)"', index(daimon))
    assert "immutable" in daimon.live.call_as("GET", main, None, {}).headers["cache-control"]
    old = re.sub(r"/room/\w+/", "/room/000000000000/", main)
    assert daimon.live.call_as("GET", old, None, {}).status == 404


@pytest.mark.parametrize("path", ["../assets.py", "..%2fassets.py", "%2e%2e/assets.py", "js/../../assets.py", "/etc/passwd", "js", ""])
def test_only_files_of_the_room_are_served(daimon: Gateway, path: str) -> None:
    (base,) = set(re.findall(r'"(/room/\w+)/js/main.js"', index(daimon)))
    answer = daimon.live.call_as("GET", f"{base}/{path}", None, {})
    assert answer.status == 404
    assert b"import" not in answer.body


def test_an_address_that_leads_to_nothing_is_a_page_for_a_person_and_an_error_for_a_program(daimon: Gateway) -> None:
    person = daimon.live.call_as("GET", "/nothing/here", None, {"Accept": "text/html,*/*;q=0.8"})
    assert (person.status, person.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "'nonce-" in person.headers["content-security-policy"]
    for path, accept in (("/nothing/here", "*/*"), ("/v1/nothing", "text/html")):
        assert daimon.live.call("GET", path, Accept=accept).code == "not_found"


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_has_its_address_and_a_nonce_of_its_own(daimon: Gateway, page: str) -> None:
    first, second = index(daimon, f"/{page}"), index(daimon, f"/{page}")
    nonces = [re.findall(r'nonce="([^"]+)"', each) for each in (first, second)]
    assert len({*nonces[0]}) == len({*nonces[1]}) == 1
    assert nonces[0] != nonces[1]


def test_pages_on_the_server_are_those_in_the_browser() -> None:
    paths = re.findall(r"path: '/([^'/]*)", (WEB / "js" / "pages.js").read_text())
    assert set(paths) == PAGES


def test_the_page_asks_nobody_else_for_anything() -> None:
    for file in WEB.rglob("*"):
        if file.suffix in (".js", ".css", ".html", ".webmanifest"):
            found = set(re.findall(r"https?://[\w.-]+", file.read_text())) - {"http://www.w3.org"}
            assert not found, file.name


def test_what_a_file_of_the_page_imports_it_uses() -> None:
    for file in WEB.rglob("*.js"):
        script = file.read_text()
        imported = [name.split(" as ")[-1].strip() for names in re.findall(r"import \{([^}]*)\} from", script) for name in names.split(",")]
        assert not [name for name in imported if name and len(re.findall(rf"(?<![\w$]){re.escape(name)}\b", script)) < 2], file.name


TALK = frozenset({"POST /v1/events", "POST /v1/blobs", "POST /v1/enter"})
"""No act: what is said, its files, and signing in, which is recorded in words."""


def test_the_audit_log_has_words_for_every_operation_that_changes_something(daimon: Gateway) -> None:
    named = tuple(re.findall(r"\['((?:GET|POST|PUT|DELETE) [^']+)'", (WEB / "pages" / "settings" / "acts.js").read_text()))
    paths = daimon.live.get("/v1/openapi.json")["paths"]
    done = {f"{method.upper()} {path}" for path, each in paths.items() for method in each if method != "get"} - TALK
    assert len(done) > 50
    assert [each for each in sorted(done) if not each.startswith(named)] == []
