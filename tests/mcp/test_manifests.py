"""What a tool of a server is to Daimon."""

from dataclasses import replace
from typing import Any

import pytest

from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest
from daimon.mcp.listed import Listed
from daimon.mcp.manifests import PURPOSE, known_of, names_of

HARMLESS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def made(
    properties: dict[str, Any] | None = None, annotations: dict[str, Any] | None = None, name: str = "act", **settings: Any
) -> Manifest:
    schema = {"type": "object", "properties": properties if properties is not None else {"text": {"type": "string"}}}
    listed = Listed(name, "Does something.", parameters=schema, annotations=annotations or {})
    return known_of("far", f"far_{name}", config.Server(url="https://far.test/", **settings), listed).manifest


def test_that_a_tool_is_harmless_is_believed_only_of_a_server_that_the_owner_vouches_for() -> None:
    claimed = made(annotations=HARMLESS)
    assert claimed.is_consequential
    assert (claimed.effect, claimed.author) == (Effect.UNSAFE, Author.STRANGER)
    vouched = made(annotations=HARMLESS, is_vouched=True)
    assert not vouched.is_consequential
    assert (vouched.effect, vouched.author) == (Effect.PURE, Author.OWNER)
    assert vouched.result.author is Author.STRANGER


def test_that_a_tool_is_dangerous_is_always_believed() -> None:
    assert Capability.DELETES in made(annotations={"destructiveHint": True}).capabilities
    assert Capability.DELETES in made(annotations={"destructiveHint": True}, is_vouched=True).capabilities
    assert Capability.SPENDS in made(name="pay_invoice").capabilities


def test_what_the_owner_says_of_a_tool_counts_before_all() -> None:
    says = config.SaysOfTool(effect="idempotent", capabilities=("reads_outside",), roles={"text": "query"}, result="service")
    manifest = made(annotations={"destructiveHint": True}, tools={"act": says})
    assert manifest.effect is Effect.IDEMPOTENT
    assert manifest.capabilities == (Capability.READS_OUTSIDE,)
    assert manifest.roles == {"text": ArgumentRole.QUERY}
    assert manifest.result.author is Author.SERVICE
    with pytest.raises(Misconfigured, match="not all capabilities"):
        made(tools={"act": config.SaysOfTool(capabilities=("flies",))})


def test_a_shipped_manifest_counts_where_the_owner_names_it_and_says_nothing_else() -> None:
    schema = {"type": "object", "properties": {"timezone": {"type": "string"}}}
    listed = Listed("get_current_time", "Tells the time.", parameters=schema)
    unnamed, named = (known_of("clock", "clock_time", config.Server(command=("x",), known=each), listed).manifest for each in ("", "time"))
    assert unnamed.is_consequential
    assert (named.is_consequential, named.effect, named.author) == (False, Effect.PURE, Author.STRANGER)
    odd = Listed("get_current_time", "Tells the time.", parameters={"type": "object", "properties": {"webhook": {"type": "string"}}})
    assert known_of("clock", "clock_time", config.Server(command=("x",), known="time"), odd).manifest.is_consequential
    hidden = {"$ref": "#/$defs/all", "$defs": {"all": odd.parameters}}
    assert known_of(
        "clock", "clock_time", config.Server(command=("x",), known="time"), replace(odd, parameters=hidden)
    ).manifest.is_consequential


def test_roles_are_guessed_by_name_and_all_words_have_one() -> None:
    text = {"type": "string"}
    manifest = made(
        {"to": text, "issueTitle": text, "body": text, "page_url": text, "repo": text, "flavour": text, "loud": {"type": "boolean"}}
    )
    there, title, words = ArgumentRole.DESTINATION, ArgumentRole.TITLE, ArgumentRole.CONTENT
    guessed = {"to": there, "issueTitle": title, "body": words, "page_url": there, "repo": ArgumentRole.TARGET, "flavour": words}
    assert manifest.roles == guessed


def test_an_act_without_words_is_called_for_a_purpose_that_the_owner_can_read() -> None:
    listed = Listed("wipe", "Wipes.", parameters={"type": "object", "properties": {"count": {"type": "integer"}}})
    known = known_of("far", "far_wipe", config.Server(url="https://far.test/"), listed)
    assert known.has_purpose
    assert known.manifest.roles == {PURPOSE: ArgumentRole.CONTENT}


def test_words_of_a_server_are_cut_and_cleaned() -> None:
    listed = Listed("act", "Good.\u202e\u200b" + "x" * 5_000, parameters={"type": "object"})
    manifest = known_of("far", "far_act", config.Server(url="https://far.test/"), listed).manifest
    assert manifest.description.startswith("Good.xxx")
    assert len(manifest.description) <= 1_000


def test_names_fit_and_two_tools_never_share_one() -> None:
    tools = ["get-time", "convertTime", "do.it", "do_it", "x" * 100, "x" * 101, "ÄÖ", "../../etc"]
    names = names_of("far", tools)
    assert names["get-time"] == "far_get_time"
    assert names["convertTime"] == "far_convert_time"
    assert len(set(names.values())) == len(tools)
    assert all(len(name) <= 64 and name.isascii() for name in names.values())


def test_the_hash_of_a_tool_is_of_all_that_its_server_says_of_it() -> None:
    base = Listed("act", "x", "t", {"type": "object"}, None, {"readOnlyHint": True})
    others = [
        Listed("acT", "x", "t", {"type": "object"}, None, {"readOnlyHint": True}),
        Listed("act", "x ", "t", {"type": "object"}, None, {"readOnlyHint": True}),
        Listed("act", "x", "u", {"type": "object"}, None, {"readOnlyHint": True}),
        Listed("act", "x", "t", {"type": "object", "properties": {}}, None, {"readOnlyHint": True}),
        Listed("act", "x", "t", {"type": "object"}, {"type": "object"}, {"readOnlyHint": True}),
        Listed("act", "x", "t", {"type": "object"}, None, {"readOnlyHint": False}),
    ]
    assert len({base.hash, *(each.hash for each in others)}) == len(others) + 1
    assert base.hash == Listed("act", "x", "t", {"type": "object"}, None, {"readOnlyHint": True}).hash
