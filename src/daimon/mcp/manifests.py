"""What a tool of a server is to Daimon: its manifest. Pure.

What a server says of its tools (`annotations`) are claims. They are believed where they make a tool more dangerous; where they make it
harmless, only if the owner vouches for the server. A tool of which nothing is known acts on the world (it sends), reads what is private
and what is outside, must never be repeated, and its results are a stranger's words. What Daimon knows of a public server that the owner
named (`known.py`) says it better, and what the owner says of a tool in the settings counts before all.

Roles of arguments are guessed by their names. A tool that acts has at least one: what has no known name is content, and a tool without
arguments gets one of ours, `purpose`, which is shown to the owner and not sent.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import CONSEQUENTIAL, ArgumentRole, Capability, Effect, Manifest, ResultLabel
from daimon.mcp.bounds import BOUNDS
from daimon.mcp.known import says_of
from daimon.mcp.listed import Listed
from daimon.mcp.schemas import Translated, names, translate
from daimon.mcp.words import kept
from daimon.tools.review import MEANT_FOR, review

PURPOSE = "purpose"
LONGEST_NAME, MOST_WORDS = 64, 1_000
MARGIN_S = BOUNDS.handshake_s + 10.0
"""It may have to be started first, and its own limit comes before ours: a call that was never sent must not count as one that may have
happened."""
_UNKNOWN = frozenset({Capability.SENDS, Capability.READS_PRIVATE, Capability.READS_OUTSIDE})
_ROLES: tuple[tuple[ArgumentRole, str], ...] = (
    (ArgumentRole.DESTINATION, "to cc bcc recipient recipients receiver email phone url uri host webhook endpoint channel server domain"),
    (ArgumentRole.SECRET, "password passwd secret token apikey api_key private_key credential credentials"),
    (ArgumentRole.COMMAND, "command cmd script shell argv"),
    (ArgumentRole.PERMISSION, "role permission permissions scope scopes visibility access collaborator collaborators"),
    (ArgumentRole.AMOUNT, "amount price total cost sum"),
    (ArgumentRole.TIME, "time date start end due deadline when since until before after timezone"),
    (ArgumentRole.TITLE, "title subject summary headline"),
    (ArgumentRole.QUERY, "q query search filter term keyword keywords question"),
    (ArgumentRole.CONTENT, "body text content contents message comment description data note html markdown input prompt code value patch"),
    (ArgumentRole.TARGET, "path file filename directory folder source destination id ids name owner repo repository branch ref sha key"),
    (ArgumentRole.TARGET, "number issue issue_number pull_number user username project board calendar page database table"),
)
_BY_NAME = {word: role for role, words in reversed(_ROLES) for word in words.split()}
_PAYS = re.compile(r"(?:^|_)(?:pay|purchase|buy|order|checkout|transfer|charge|refund|invoice|donate)(?:_|$)")
_NO_WORDS = ("boolean", "integer", "number")


@dataclass(frozen=True, slots=True)
class Known:
    """A tool of a server, ready to be offered."""

    listed: Listed
    manifest: Manifest
    arguments: Translated
    has_purpose: bool = False


def known_of(server: str, name: str, settings: config.Server, listed: Listed) -> Known:
    """`name`: as the model calls it. Raises Misconfigured where no manifest of it can be believed."""
    translated = translate(listed.parameters)
    arguments = [argument for argument, _ in names(translated.parameters)]  # as they are, wherever the schema hides them
    said = settings.tools
    says = said.get(listed.name) or says_of(settings.known, listed.name, arguments) or config.SaysOfTool()
    capabilities = _capabilities(listed, says, settings.is_vouched)
    roles = _roles(translated, says, capabilities)
    parameters, has_purpose = translated.parameters, False
    if not roles and not _is_calm(capabilities):
        parameters, roles, has_purpose = _with_purpose(translated.parameters), {PURPOSE: ArgumentRole.CONTENT}, True
    manifest = Manifest(
        name=name,
        description=_description(server, listed),
        parameters=parameters,
        effect=_effect(listed, says, settings.is_vouched),
        roles=roles,
        capabilities=tuple(capabilities),
        timeout_s=settings.timeout_s + MARGIN_S,
        result=ResultLabel(_author(says, capabilities), origin_of(server)),
        is_rare=True,
        author=Author.OWNER if settings.is_vouched else Author.STRANGER,
    )
    review(manifest)
    return Known(listed, manifest, translated, has_purpose)


def origin_of(server: str) -> str:
    """As labels name it."""
    return f"mcp:{server}"


def names_of(server: str, tools: Iterable[str]) -> dict[str, str]:
    """What the model calls each. Where two would have one name, both get some signs of their hashes: neither takes the other's place."""
    plain = {tool: re.sub(r"[^a-z0-9_]", "_", f"{server}_{_snake(tool) or tool.lower()}")[:LONGEST_NAME] for tool in tools}
    shared = {name for name, count in Counter(plain.values()).items() if count > 1}
    return {tool: _marked(name, tool) if name in shared else name for tool, name in plain.items()}


def _marked(name: str, tool: str) -> str:
    return f"{name[: LONGEST_NAME - 7]}_{hashlib.sha256(tool.encode(errors='replace')).hexdigest()[:6]}"


def _description(server: str, listed: Listed) -> str:
    said = kept(listed.description.strip() or listed.title.strip(), MOST_WORDS).strip()
    return said or f"{listed.name[:80]} of the server {server}, which says no more of it."


def _claims(listed: Listed, name: str) -> bool | None:
    claim = listed.annotations.get(name)
    return claim if isinstance(claim, bool) else None


def _capabilities(listed: Listed, says: config.SaysOfTool, is_vouched: bool) -> frozenset[Capability]:
    if says.capabilities is not None:
        return _named(listed.name, says.capabilities)
    found = set(_UNKNOWN)
    if is_vouched and _claims(listed, "readOnlyHint"):
        return frozenset({Capability.READS_PRIVATE, *({Capability.READS_OUTSIDE} if _claims(listed, "openWorldHint") is not False else ())})
    if is_vouched and _claims(listed, "openWorldHint") is False:
        found = {Capability.WRITES, Capability.READS_PRIVATE}
    if _claims(listed, "destructiveHint"):
        found.add(Capability.DELETES)
    if _PAYS.search(_snake(listed.name)):
        found.add(Capability.SPENDS)
    return frozenset(found)


def _named(tool: str, given: tuple[str, ...]) -> frozenset[Capability]:
    try:
        return frozenset(Capability(each) for each in given)
    except ValueError:
        raise Misconfigured(f"{tool}: {', '.join(given)} are not all capabilities; those are {', '.join(Capability)}") from None


def _effect(listed: Listed, says: config.SaysOfTool, is_vouched: bool) -> Effect:
    if says.effect is not None:
        return Effect(says.effect)
    if is_vouched and _claims(listed, "readOnlyHint"):
        return Effect.PURE
    return Effect.IDEMPOTENT if is_vouched and _claims(listed, "idempotentHint") else Effect.UNSAFE


def _author(says: config.SaysOfTool, capabilities: frozenset[Capability]) -> Author:
    author = Author(says.result)
    return Author.SERVICE if author is Author.OWNER and Capability.READS_OUTSIDE in capabilities else author


def _roles(translated: Translated, says: config.SaysOfTool, capabilities: frozenset[Capability]) -> dict[str, ArgumentRole]:
    kinds = dict(names(translated.parameters))
    try:
        said = {name: ArgumentRole(role) for name, role in says.roles.items() if name in kinds}
    except ValueError:
        raise Misconfigured(f"{says.roles}: these are the roles: {', '.join(ArgumentRole)}") from None
    guessed = {name: role for name in kinds if (role := _guess(name)) is not None and _may(role, capabilities)}
    found = {**guessed, **said}
    if _is_calm(capabilities):
        return found
    return {name: ArgumentRole.CONTENT for name, kind in kinds.items() if kind not in _NO_WORDS} | found


def _guess(name: str) -> ArgumentRole | None:
    """By the whole name, or by its last word: `issue_title`, `pageUrl`."""
    plain = _snake(name)
    return _BY_NAME.get(plain) or _BY_NAME.get(plain.rpartition("_")[2])


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower().strip("_")


def _may(role: ArgumentRole, capabilities: frozenset[Capability]) -> bool:
    meant = MEANT_FOR.get(role)
    return meant is None or not meant.isdisjoint(capabilities)


def _is_calm(capabilities: frozenset[Capability]) -> bool:
    return CONSEQUENTIAL.isdisjoint(capabilities)


def _with_purpose(parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
    node: JsonValue = {"type": "string", "description": "In a few words, what it is called for. The owner may be shown it; it is not sent."}
    properties = parameters.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = parameters.get("required")
    return {**parameters, "properties": {**known, PURPOSE: node}, "required": [*(required if isinstance(required, list) else ()), PURPOSE]}
