"""Somebody who calls as a browser does, header by header, so that each can be left out or forged."""

import http.client
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.gateway.live import Answer, Live, read

EVIL = "https://evil.example"


@dataclass(slots=True)
class Visitor:
    live: Live
    host: str
    origin: str
    cookie: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def cookie_name(self) -> str:
        return "__Host-daimon" if self.origin.startswith("https") else f"daimon-{urlsplit(self.origin).port}"

    def headers(self, method: str) -> dict[str, str]:
        ours = {"Host": self.host, "Sec-Fetch-Site": "same-origin", **self.more}
        if method != "GET":
            ours |= {"Origin": self.origin, "X-Daimon": "1", "Content-Type": "application/json"}
        if self.cookie:
            ours["Cookie"] = f"{self.cookie_name}={self.cookie}"
        return ours

    def call(self, method: str, path: str, body: object = None, **changes: str | None) -> Answer:
        """`changes` are headers, with _ for -; None leaves one out."""
        headers = self.headers(method)
        for name, value in changes.items():
            headers = {each: old for each, old in headers.items() if each.lower() != name.replace("_", "-").lower()}
            if value is not None:
                headers[name.replace("_", "-")] = value
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return self.send(method, path, data, headers)

    def send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> Answer:
        connection: http.client.HTTPConnection = self.live.connect()
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            return read(connection)
        finally:
            connection.close()

    def enter(self, secret: str) -> Answer:
        answer = self.call("POST", "/v1/enter", {"secret": secret, "name": "a test"})
        self.keep(answer)
        return answer

    def keep(self, answer: Answer) -> None:
        sent = answer.headers.get("set-cookie", "")
        if sent.startswith(f"{self.cookie_name}="):
            self.cookie = sent.partition(";")[0].partition("=")[2]

    @property
    def authority(self) -> dict[str, str]:
        """For a WebSocket."""
        return {"Cookie": f"{self.cookie_name}={self.cookie}"}


def visitor(live: Live, **more: str) -> Visitor:
    """Not signed in."""
    return Visitor(live, urlsplit(live.url).netloc, live.url, more=more)


def link(live: Live, *rights: str) -> str:
    """The secret of a new one."""
    made = live.call("POST", "/v1/links", {"rights": list(rights)} if rights else {})
    assert made.status == 200, made.body
    return str(made.json["urls"][0].partition("#")[2])


def signed_in(live: Live, *rights: str, **more: str) -> Visitor:
    made = visitor(live, **more)
    assert made.enter(link(live, *rights)).status == 200
    return made


def acts(live: Live) -> list[dict[str, Any]]:
    return list(live.get("/v1/acts"))
