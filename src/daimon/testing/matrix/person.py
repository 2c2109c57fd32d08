"""Somebody with a Matrix account, who writes to the agent and sees what any client would show."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx2

from daimon.testing.matrix.homeserver import Homeserver

CLIENT = "/_matrix/client/v3"


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of a room, as a client shows it."""

    event: str
    sender: str
    body: str
    content: dict[str, Any]


class Person:
    def __init__(self, url: str, user: str, token: str) -> None:
        self.user = user
        self.token = token
        self._http = httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)
        self._numbers = count()

    @classmethod
    async def new(cls, server: Homeserver, name: str, password: str = "open sesame") -> "Person":
        """A new account; the name is made unique, since one server serves many tests."""
        name = f"{name}-{secrets.token_hex(4)}"
        place = "/_synapse/admin/v1/register"
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            nonce = (await http.get(place)).json()["nonce"]
            proof = hmac.new(server.secret.encode(), "\0".join([nonce, name, password, "notadmin"]).encode(), hashlib.sha1).hexdigest()
            wish = {"nonce": nonce, "username": name, "displayname": name, "password": password, "admin": False, "mac": proof}
            answer = (await http.post(place, json=wish)).raise_for_status().json()
        return cls(server.url, answer["user_id"], answer["access_token"])

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        if body is None:
            return (await self._http.request(method, f"{CLIENT}{path}", params=query)).raise_for_status().json()
        return (await self._http.request(method, f"{CLIENT}{path}", params=query, json=body)).raise_for_status().json()

    async def room(self, *invited: str, **more: Any) -> str:
        wish = {"preset": "private_chat", "invite": list(invited), **more}
        return str((await self.ask("POST", "/createRoom", wish))["room_id"])

    async def invite(self, room: str, user: str, reason: str = "") -> None:
        await self.ask("POST", f"/rooms/{quote(room)}/invite", {"user_id": user, "reason": reason})

    async def join(self, room: str) -> None:
        await self.ask("POST", f"/rooms/{quote(room)}/join", {})

    async def say(self, room: str, body: str, **more: Any) -> str:
        return await self.put(room, "m.room.message", {"msgtype": "m.text", "body": body, **more})

    async def put(self, room: str, kind: str, content: dict[str, Any]) -> str:
        place = f"/rooms/{quote(room)}/send/{kind}/{next(self._numbers)}-{secrets.token_hex(4)}"
        return str((await self.ask("PUT", place, content))["event_id"])

    async def react(self, room: str, event: str, sign: str) -> str:
        return await self.put(room, "m.reaction", {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": sign}})

    async def edit(self, room: str, event: str, body: str) -> str:
        content = {"msgtype": "m.text", "body": body}
        relation = {"rel_type": "m.replace", "event_id": event}
        return await self.put(room, "m.room.message", {**content, "body": f"* {body}", "m.new_content": content, "m.relates_to": relation})

    async def redact(self, room: str, event: str) -> None:
        await self.ask("PUT", f"/rooms/{quote(room)}/redact/{quote(event)}/{secrets.token_hex(4)}", {})

    async def upload(self, data: bytes, media_type: str) -> str:
        answer = await self._http.post("/_matrix/media/v3/upload", content=data, headers={"Content-Type": media_type})
        return str(answer.raise_for_status().json()["content_uri"])

    async def download(self, uri: str) -> bytes:
        answer = await self._http.get(f"/_matrix/client/v1/media/download/{uri.removeprefix('mxc://')}")
        return answer.raise_for_status().content

    async def shown(self, room: str, by: str = "") -> list[Shown]:
        """The messages of a room, oldest first."""
        messages: list[Shown] = []
        start: dict[str, str] = {}
        while True:
            page = await self.ask("GET", f"/rooms/{quote(room)}/messages", dir="f", limit="200", **start)
            for event in page["chunk"]:
                if event["type"] == "m.room.message" and by in ("", event["sender"]):
                    messages.append(Shown(event["event_id"], event["sender"], event["content"].get("body", ""), event["content"]))
            if not page.get("end"):
                return messages
            start = {"from": page["end"]}

    async def members(self, room: str) -> set[str]:
        return set((await self.ask("GET", f"/rooms/{quote(room)}/joined_members"))["joined"])

    async def typing(self, since: str = "", timeout_ms: int = 0) -> tuple[str, dict[str, list[str]]]:
        """Who is shown as typing, by room, and from where to ask on."""
        query = {"timeout": str(timeout_ms), **({"since": since} if since else {})}
        answer = await self.ask("GET", "/sync", **query)
        rooms = answer.get("rooms", {}).get("join", {})
        shown = {
            room: event["content"]["user_ids"]
            for room, seen in rooms.items()
            for event in seen.get("ephemeral", {}).get("events", ())
            if event["type"] == "m.typing"
        }
        return answer["next_batch"], shown
