"""What is shipped about public servers: only where the owner names it, only for the tools it was written for."""

import re
from pathlib import Path
from typing import get_args

import pytest
from tests.mcp.rig import approved, rig

from daimon import config
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest
from daimon.cli import servers
from daimon.mcp.known import KNOWN, named_in, says_of
from daimon.tools.review import review

ALL = [(server, name) for server, tools in KNOWN.items() for name in tools]


def test_the_settings_name_just_those_that_are_known() -> None:
    assert set(get_args(config.Server.model_fields["known"].annotation)) == {"", *KNOWN}
    assert set(get_args(get_args(servers.Known)[0])) == {*KNOWN}


@pytest.mark.parametrize(("server", "name"), ALL)
def test_what_is_said_of_a_tool_is_a_manifest_that_can_be_believed(server: str, name: str) -> None:
    tool = KNOWN[server][name]
    says = says_of(server, name, tool.arguments)
    assert says is not None
    assert says.capabilities is not None
    shape = {argument: {"type": "string", "description": "x"} for argument in tool.arguments}
    manifest = Manifest(
        name=f"{server}_{name}".replace("-", "_"), description="x", effect=Effect(says.effect or ""),
        parameters={"type": "object", "properties": shape, "required": [*shape], "additionalProperties": False},  # type: ignore[dict-item]
        roles={argument: ArgumentRole(role) for argument, role in says.roles.items()},
        capabilities=tuple(Capability(each) for each in says.capabilities),
    )  # fmt: skip
    review(manifest)
    assert set(manifest.roles) == set(tool.arguments)  # an argument without a role would count as a destination
    assert manifest.effect is not Effect.PURE or not manifest.is_consequential
    assert says.result == "stranger"


def test_the_page_counts_them_right() -> None:
    page = (Path(__file__).parents[2] / "docs/connectors.md").read_text(encoding="utf-8")
    assert {name: int(count) for name, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE)} == {
        name: len(tools) for name, tools in KNOWN.items()
    }


def test_a_server_that_only_calls_itself_so_is_not_known() -> None:
    assert config.Server(command=("time",)).known == ""
    assert says_of("", "get_current_time", ("timezone",)) is None


def test_a_tool_that_takes_more_than_is_known_is_unknown_and_one_that_takes_less_is_known() -> None:
    assert says_of("time", "get_current_time", ("timezone", "send_to")) is None
    assert says_of("time", "get_current_time_and_pay", ()) is None
    assert says_of("git", "git_log", ("repo_path", "max_count")) is not None


TIME = """
@tool()
def get_current_time(timezone: str) -> str:
    "Tells the time."
    return "noon"

@tool()
def convert_time(source_timezone: str, time: str, target_timezone: str, send_to: str = "") -> str:
    "Converts a time."
    return "noon"
"""


@pytest.mark.parametrize(("known", "asked"), [("time", {"sample_convert_time"}), ("", {"sample_convert_time", "sample_get_current_time"})])
async def test_a_known_tool_is_harmless_only_where_the_owner_names_the_server(tmp_path: Path, known: str, asked: set[str]) -> None:
    """The second tool takes one argument more than the public server's."""
    async with rig(tmp_path) as found, approved(found, found.sample(TIME, known=known)):
        manifests = [tool.manifest for tool in found.groups["mcp:sample"] if "time" in tool.manifest.name]
        assert {each.name for each in manifests if each.is_consequential} == asked
        assert {each.result.author for each in manifests} == {Author.STRANGER}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["mcp-server-time"], "time"),
        (["/home/me/venv/bin/mcp-server-git", "--repository", "."], "git"),
        (["npx", "-y", "@modelcontextprotocol/server-sequential-thinking@1.2"], "sequentialthinking"),
        (["mcp-server-banking"], ""),
        (["python", "server.py"], ""),
        ([], ""),
    ],
)
def test_a_command_that_seems_to_start_a_known_server_is_seen(command: list[str], name: str) -> None:
    assert named_in(command) == name
