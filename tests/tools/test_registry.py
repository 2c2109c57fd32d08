"""The table of tools."""

import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from daimon.abi.errors import BadInput, Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import Call, Capability, Effect, Manifest, Result
from daimon.tools.people import people_tools
from daimon.tools.registry import Registry, hash_manifest

PARAMETERS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Which file."}},
    "required": ["path"],
    "additionalProperties": False,
}


@dataclass
class Foreign:
    """A tool that was not made by our builder."""

    manifest: Manifest = Manifest(name="peek", description="Looks at a file.", parameters=PARAMETERS, effect=Effect.PURE)

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result(arguments["path"])

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        return None


def by_name(name: str) -> Foreign:
    return Foreign(replace(Foreign().manifest, name=name))


def test_all_our_tools_have_strict_schemas(registry: Registry) -> None:
    for manifest in registry.manifests():
        assert manifest.parameters["type"] == "object"
        assert manifest.parameters["additionalProperties"] is False
        properties = manifest.parameters["properties"]
        assert isinstance(properties, dict)
        assert all(isinstance(each, dict) and each["description"] for each in properties.values())


def test_manifests_come_sorted_by_name(registry: Registry) -> None:
    names = [manifest.name for manifest in registry.manifests()]
    kept = ["forget", "learn", "now", "recall", "relate", "remember"]
    assert names == ["ask_graph", "ask_owner", "cancel_reminder", *kept, "remind", "reminders", "status"]


def test_a_tool_from_elsewhere_is_checked_by_its_schema() -> None:
    registry = Registry([Foreign()])
    assert registry.check("peek", {"path": "a.txt"}) == {"path": "a.txt"}
    with pytest.raises(BadInput, match="peek: path is 5, expected text"):
        registry.check("peek", {"path": 5})


def test_a_tool_is_found_by_name() -> None:
    foreign = Foreign()
    assert Registry([foreign]).get("peek") is foreign


def test_an_unknown_tool_is_answered_with_the_nearest_names(registry: Registry) -> None:
    for ask in (registry.get, registry.hash_of, lambda name: registry.check(name, {})):
        with pytest.raises(BadInput, match="there is no tool 'remeber'; there is remember, "):
            ask("remeber")
    with pytest.raises(BadInput, match=r"there is no tool 'x'; there is ask_graph, ask_owner, cancel_reminder, .*status"):
        registry.get("x")


def test_two_tools_of_one_name_do_not_register() -> None:
    with pytest.raises(Misconfigured, match="two tools are called peek"):
        Registry([Foreign(), Foreign()])


def test_something_without_a_manifest_does_not_register() -> None:
    with pytest.raises(Misconfigured, match="object has no manifest"):
        Registry([object()])  # type: ignore[list-item]


def test_a_tool_with_an_open_schema_does_not_register() -> None:
    with pytest.raises(Misconfigured, match="tool peek: the schema of its arguments is not strict"):
        Registry([Foreign(replace(Foreign().manifest, parameters={"type": "object"}))])


def test_the_reviewed_manifest_counts_even_if_the_tool_shows_another_later() -> None:
    foreign = Foreign()
    registry = Registry([foreign])
    foreign.manifest = replace(foreign.manifest, name="poke", parameters={})
    assert registry.manifests()[0].name == "peek"
    with pytest.raises(BadInput):
        registry.check("peek", {})


def test_the_hash_does_not_depend_on_the_order_of_registration() -> None:
    assert Registry([Foreign(), *people_tools()]).hash == Registry([*people_tools(), Foreign()]).hash


def test_every_part_of_a_manifest_is_in_its_hash() -> None:
    manifest = Foreign().manifest
    changed = [
        replace(manifest, description="Looks at any file."),
        replace(manifest, capabilities=(Capability.READS_PRIVATE,)),
        replace(manifest, timeout_s=31.0),
        replace(manifest, effect=Effect.IDEMPOTENT),
    ]
    assert len({hash_manifest(each) for each in [manifest, *changed]}) == 5
    assert Registry([Foreign()]).hash_of("peek") == hash_manifest(manifest)


def test_the_hash_is_the_same_in_every_process() -> None:
    program = (
        "from daimon.abi.tool import Capability, Effect, Manifest\n"
        "from daimon.tools.registry import hash_manifest\n"
        "print(hash_manifest(Manifest(name='x', description='x', parameters={}, effect=Effect.PURE, capabilities=tuple(Capability))))"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": _path()}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(hashes) == 1


def _path() -> str:
    return ":".join(sys.path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_arbitrary_arguments_for_any_tool_raise_nothing_but_bad_input(registry: Registry, data: st.DataObject) -> None:
    scalar = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\udcff")
    value = st.recursive(scalar, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
    manifest = data.draw(st.sampled_from(registry.manifests()))
    names = st.sampled_from([*manifest.parameters["properties"], "other"])  # type: ignore[misc]
    arguments = data.draw(value | st.dictionaries(names, value))
    told = f"{manifest.name}: "
    try:
        assert registry.check(manifest.name, arguments) == arguments
    except BadInput as refused:
        told = str(refused)
    assert told.startswith(f"{manifest.name}: ")


def test_a_group_of_tools_comes_changes_and_goes_while_daimon_runs() -> None:
    registry = Registry([by_name("here")])
    before = registry.hash
    registry.put("mail", [by_name("mail_read"), by_name("mail_send")])
    assert [each.name for each in registry.manifests()] == ["here", "mail_read", "mail_send"]
    assert not registry.is_own("mail_read")
    assert registry.hash != before
    registry.put("mail", [by_name("mail_read")])
    with pytest.raises(BadInput, match="no tool 'mail_send'"):
        registry.get("mail_send")
    registry.put("mail", [])
    assert registry.hash == before


def test_a_group_cannot_take_the_name_of_a_tool_that_is_there_and_then_all_stays() -> None:
    registry = Registry([by_name("here")])
    registry.put("one", [by_name("one_x")])
    before = registry.hash
    for taken in ("here", "one_x"):
        with pytest.raises(Misconfigured, match=f"two tools are called {taken}"):
            registry.put("two", [by_name("two_y"), by_name(taken)])
    assert registry.hash == before


def test_whose_words_a_manifest_is_made_of_counts_in_its_hash_only_where_it_is_not_daimons_own() -> None:
    """Calls that wait were decided under hashes of before."""
    own = by_name("here").manifest
    assert hash_manifest(own) == hash_manifest(replace(own, author=Author.SERVICE))
    assert hash_manifest(own) != hash_manifest(replace(own, author=Author.STRANGER))
