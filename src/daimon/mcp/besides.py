"""What a server has besides tools: resources, which are read, and prompts, which are texts to work by. One tool for each, which the owner
agreed to like any other, shown to the model only when it looks for it. The words that describe it are ours. What they are called and what
they say comes back as the server's words, a stranger's, and nothing of it stands anywhere else: so a name or a description that was changed
after the owner looked finds no way before the model but this one.

An address of a resource can carry words away, so it is a destination. What a prompt is filled with is sent.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import JsonValue

from daimon import config
from daimon.abi.errors import ToolFailed
from daimon.abi.plain import mended
from daimon.abi.ports import Store
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Manifest, Result, ResultLabel, Tool
from daimon.mcp.connection import Connection
from daimon.mcp.listed import BESIDES, Listed
from daimon.mcp.manifests import MARGIN_S, origin_of
from daimon.mcp.results import cut, resource, taken
from daimon.mcp.server import Server
from daimon.mcp.words import shown

MOST_LISTED = 200
_URI: JsonValue = {"type": "string", "description": "As the list says it. Left out: what there is.", "maxLength": 4_000}
_NAME: JsonValue = {"type": "string", "description": "As the list says it. Left out: what there is.", "maxLength": 200}
_WITH: JsonValue = {"type": "string", "description": 'What it is filled with: a JSON object of texts, such as {"city": "Bern"}.'}


class Resources:
    def __init__(self, server: Server, blobs: Store) -> None:
        self._server, self._blobs = server, blobs
        capabilities = (Capability.READS_OUTSIDE, Capability.READS_PRIVATE)
        words = f"List what the server {server.name} lets be read, or read one of them."
        self.manifest = _manifest(server, "resources", words, {"uri": _URI}, {"uri": ArgumentRole.DESTINATION}, capabilities)

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        connection = await self._server.ready_for(BESIDES["resources"])
        limit_s = self._server.settings.timeout_s
        with self._server.in_use():
            uri = arguments.get("uri")
            if not isinstance(uri, str):
                return Result(mended(await self._listed(connection)), touched=connection.touched())
            read = await connection.asked(connection.client.read_resource(uri), limit_s)
        texts, attached, parts = list[str](), list[JsonValue](), []
        for each in read.contents[:MOST_LISTED]:
            parts += await resource(each, texts, attached, self._blobs)
        return Result(mended({"text": cut("\n".join(texts)), "attached": attached}), tuple(parts), touched=connection.touched())

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        return None

    async def _listed(self, connection: Connection) -> dict[str, JsonValue]:
        client, limit_s = connection.client, self._server.settings.timeout_s
        found = await _pages(lambda at: connection.asked(client.list_resources(cursor=at), limit_s), "resources")
        rows: list[JsonValue] = [_row(uri=each.uri, name=each.name, about=each.description) for each in found]
        try:
            shapes = await _pages(lambda at: connection.asked(client.list_resource_templates(cursor=at), limit_s), "resource_templates")
        except ToolFailed as failed:
            if failed.reason != "refused":  # many have none, and say so in this way
                raise
            shapes = []
        more: list[JsonValue] = [_row(uri=each.uri_template, name=each.name, about=each.description) for each in shapes]
        return {"resources": rows, **({"with_blanks": more} if more else {})}


class Prompts:
    def __init__(self, server: Server, blobs: Store) -> None:
        self._server, self._blobs = server, blobs
        capabilities = (Capability.READS_OUTSIDE, Capability.SENDS)
        words = f"List the prompts of the server {server.name}, texts to work by, or get one of them."
        roles = {"name": ArgumentRole.TARGET, "filled_with": ArgumentRole.CONTENT}
        self.manifest = _manifest(server, "prompts", words, {"name": _NAME, "filled_with": _WITH}, roles, capabilities)

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        connection = await self._server.ready_for(BESIDES["prompts"])
        limit_s = self._server.settings.timeout_s
        with self._server.in_use():
            name = arguments.get("name")
            if not isinstance(name, str):
                found = await _pages(lambda at: connection.asked(connection.client.list_prompts(cursor=at), limit_s), "prompts")
                rows: list[JsonValue] = [_row(name=each.name, about=each.description, takes=_takes(each)) for each in found]
                return Result(mended({"prompts": rows}), touched=connection.touched())
            got = await connection.asked(connection.client.get_prompt(name, _texts(arguments.get("filled_with"))), limit_s)
        texts, attached, parts = await taken([message.content for message in got.messages], self._blobs)
        return Result(mended({"text": cut("\n".join(texts)), "attached": attached}), parts, touched=connection.touched())

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        return None


def beside(server: Server, listed: Listed, blobs: Store) -> Tool | None:
    """The tool for what the owner agreed to under this name; None: that is a tool itself."""
    made: dict[str, Callable[[Server, Store], Tool]] = {"resources": Resources, "prompts": Prompts}
    return next((make(server, blobs) for what, make in made.items() if BESIDES[what].name == listed.name), None)


async def _pages(asked: Callable[[str | None], Awaitable[Any]], what: str) -> list[Any]:
    """As many as are told of; a list without an end is left when there are enough, or when its pages hold nothing."""
    found: list[Any] = []
    cursor: str | None = None
    while len(found) < MOST_LISTED:
        page = await asked(cursor)
        new, cursor = getattr(page, what), page.next_cursor
        found += new
        if cursor is None or not new:
            break
    return found[:MOST_LISTED]


def _manifest(
    server: Server, what: str, words: str, properties: dict[str, JsonValue], roles: dict[str, ArgumentRole], can: tuple[Capability, ...]
) -> Manifest:
    settings: config.Server = server.settings
    return Manifest(
        name=f"{server.name}_{what}",
        description=words,
        parameters={"type": "object", "additionalProperties": False, "properties": properties, "required": []},
        effect=Effect.PURE,
        roles=roles,
        capabilities=can,
        timeout_s=settings.timeout_s + MARGIN_S,
        result=ResultLabel(source=origin_of(server.name)),
        is_rare=True,
    )


def _row(**said: Any) -> JsonValue:
    return {name: shown(str(value), 500) for name, value in said.items() if value}


def _takes(prompt: Any) -> str:
    return ", ".join(f"{each.name}{'' if each.required else '?'}" for each in prompt.arguments or ())


def _texts(given: JsonValue) -> dict[str, str]:
    if not given:
        return {}
    try:
        found = json.loads(str(given))
        return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}
    except (ValueError, AttributeError, RecursionError):
        raise ToolFailed("bad_arguments", "filled_with must be the text of a JSON object of texts") from None
