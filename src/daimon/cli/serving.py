"""Of `daimon mcp …` what is for programs that use Daimon: its commands with their arguments. What they do stands in `programs.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json


def token(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the program is called here: small letters and digits.", show_default=False)
    ],
    rights: Annotated[str, typer.Option("--rights", metavar="RIGHTS", help="What it may do: some of read,chat,approve.")] = "chat",
    as_owner: Annotated[bool, typer.Option("--as-owner", help="What it says is your own word, not a stranger's.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Let a program use Daimon: make a token for it, shown this once."""
    from daimon.cli import programs

    programs.token(home, name, rights, as_owner, as_json)


def serve(
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Where the token is, instead of DAIMON_MCP_TOKEN.", show_default=False),
    ] = None,
    home: Home = None,
) -> None:
    """Speak MCP on standard input and output, for a program that starts this; needs a running gateway."""
    from daimon.cli import programs

    programs.serve(home, token_file)


def join(app: typer.Typer) -> None:
    for command in (token, serve):
        app.command()(command)
