"""`[mcp]`: servers of the Model Context Protocol, and what the owner says of their tools."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from daimon.config.branch import Branch, as_list

ServerTool = Annotated[str, Field(pattern=r"^[a-z_]+$")]


class SaysOfTool(Branch):
    """What you say of a tool of a server, in place of what it says of itself."""

    effect: Literal["pure", "idempotent", "unsafe"] | None = None
    """What to do with a call whose outcome nobody knows. Left out: as the server says, or `unsafe`."""
    capabilities: Annotated[tuple[ServerTool, ...], BeforeValidator(as_list)] | None = None
    """What it can do to the world, such as reads_outside, writes, sends, deletes. Left out: as the server says, or `sends`."""
    roles: dict[str, ServerTool] = {}
    """What arguments mean, by name, such as destination, content, query."""
    result: Literal["owner", "service", "stranger"] = "stranger"
    """Whose words its results are."""


class Server(Branch):
    """An MCP server of `[mcp]`: a command that runs in a box, or an address."""

    command: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    environment: dict[str, str] = {}
    secrets: dict[str, str] = {}
    """Variables of its environment, or headers of requests to its address, and the secret of the vault that each stands for. In a header
    the value may hold more: `Bearer {vault:github}`."""
    hosts: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    """That the command may reach."""
    read: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    """Directories that the command sees."""
    write: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    """Directories that it may change."""
    oauth: bool = False
    """You sign in there with `daimon mcp login`."""
    is_vouched: bool = False
    """What its tools say of themselves is as good as your own word. Otherwise it is a stranger's, and acts that follow it are asked."""
    known: Literal["", "everything", "fetch", "filesystem", "git", "github", "memory", "sequentialthinking", "time"] = ""
    """It is this public server: Daimon knows what its tools do. What its results say stays a stranger's word."""
    is_on: bool = True
    sampling: bool = False
    """May it have the agent's model think for it, on your budget?"""
    timeout_s: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """For one call."""
    tools: dict[str, SaysOfTool] = {}
    """By the name that the server gives it."""
    only: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ("*",)
    """Which of its tools are taken, with * and ?."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server is a command or a url, one of the two")
        return self
