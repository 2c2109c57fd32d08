"""Looking for tools: what is found, in which order, with whose words, and what is not."""

from dataclasses import replace
from typing import Any

import pytest

from daimon.abi.ids import SELF, AgentId
from daimon.abi.label import Author
from daimon.abi.tool import Call, Effect, Manifest, Result
from daimon.tools.finding import MOST_FOUND, MOST_LINE, finding_tools, ranked
from daimon.tools.registry import Registry


def manifest(name: str, description: str, *arguments: str) -> Manifest:
    properties = {each: {"type": "string", "description": "x"} for each in arguments}
    parameters: Any = {"type": "object", "properties": properties, "additionalProperties": False}
    return Manifest(name=name, description=description, parameters=parameters, effect=Effect.PURE)


TOOLS = (
    manifest("delete_file", "Delete a file or directory.", "path", "recursive"),
    manifest("move_file", "Move or rename a file or directory.", "path", "to"),
    manifest("read_file", "Read a text file or image.", "path"),
    manifest("service", "Keep a command running in your box, such as a server.", "action", "name"),
    manifest("github_create_issue", "Open a new issue in a repository. " * 20, "repository", "title"),
    manifest("github_list_pulls", "List pull requests.", "repository"),
)


async def found(call: Call, query: str, tools: tuple[Manifest, ...] = TOOLS) -> Result:
    (finder,) = finding_tools(lambda agent, principal: tools if agent == SELF else (), lambda name: not name.startswith("github"))
    result = await finder.run({"query": query}, call)
    assert isinstance(result, Result)
    return result


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("rename a directory", "move_file"),
        ("renaming files", "move_file"),
        ("delete", "delete_file"),
        ("move_file", "move_file"),
        ("run a server in the background", "service"),
        ("pull requests of a repository", "github_list_pulls"),
        ("opening issues", "github_create_issue"),
    ],
)
def test_the_tool_that_was_meant_comes_first(query: str, best: str) -> None:
    assert ranked(query, TOOLS)[0].name == best


def test_of_equals_the_first_comes_first_every_time() -> None:
    twins = tuple(manifest(f"twin_{n}", "The same words.", "x") for n in range(20))
    assert [each.name for each in ranked("same words", twins)] == [each.name for each in twins]


async def test_what_is_found_is_told_by_name_with_one_line_and_the_names_of_its_arguments(call: Call) -> None:
    result = await found(call, "rename")
    assert result.data == {"tools": {"move_file": "Move or rename a file or directory. (path, to)"}}
    assert result.labels == {}


async def test_a_long_description_is_cut_and_so_is_a_long_list(call: Call) -> None:
    many = tuple(manifest(f"tool_{n:03}", "Counts sheep. " * 100, *(f"argument_{i}" for i in range(50))) for n in range(300))
    data: Any = (await found(call, "sheep", many)).data
    assert list(data["tools"]) == [each.name for each in many[:MOST_FOUND]]
    assert all(len(line) <= 2 * MOST_LINE + 3 for line in data["tools"].values())


@pytest.mark.parametrize("query", ["", "   ", "xylophone", "!?"])
async def test_a_hopeless_search_tells_all_names_by_group(call: Call, query: str) -> None:
    result = await found(call, query)
    names = {"daimon": "delete_file, move_file, read_file, service", "github": "github_create_issue, github_list_pulls"}
    assert result.data == {"names": names}
    assert result.labels == {}


async def test_names_of_hundreds_of_tools_are_told_in_part(call: Call) -> None:
    data: Any = (await found(call, "", tuple(manifest(f"tool_{n:03}", "x") for n in range(300)))).data
    assert data["names"]["daimon"].endswith("tool_039 and 260 more")


async def test_what_the_agent_does_not_hold_is_not_found(call: Call) -> None:
    result = await found(replace(call, agent=AgentId("guest")), "rename")
    assert result.data == {"names": {}}


async def test_what_others_say_of_their_tools_is_labelled_as_theirs_and_what_is_ours_is_not(call: Call) -> None:
    result = await found(call, "issue in a repository, or a file")
    assert set(result.labels) == {"/tools/github_create_issue", "/tools/github_list_pulls"}
    assert [origin.author for origin in result.labels["/tools/github_list_pulls"].origins] == [Author.STRANGER]


def test_the_registry_lists_our_own_tools_first_and_knows_which_they_are() -> None:
    class Foreign:
        def __init__(self, name: str) -> None:
            self.manifest = manifest(name, "x")

    tools: Any = [Foreign("b"), Foreign("z")]
    others: Any = [Foreign("c"), Foreign("a")]
    registry = Registry(tools, others)
    assert [each.name for each in registry.manifests()] == ["b", "z", "a", "c"]
    assert [registry.is_own(name) for name in ("b", "z", "a", "c")] == [True, True, False, False]
    assert registry.hash == Registry([*others, *tools]).hash
