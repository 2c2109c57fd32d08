"""`daimon grants …`: its commands with their arguments. What they do stands in `granted.py`."""

from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
All = Annotated[bool, typer.Option("--all", help="Also what has run out or was taken back.")]


@app.callback(invoke_without_command=True)
def grants(
    context: typer.Context,
    is_all: All = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show what you allowed ahead of time; `revoke` takes it back."""
    from daimon.cli import granted

    if context.invoked_subcommand is None:
        granted.show(home, is_all, as_json)
    else:
        hand_down(home, as_json)


@app.command("list", hidden=True)
def list_(is_all: All = False, home: Home = None, as_json: Json = False) -> None:
    """The same as without a command."""
    from daimon.cli import granted

    granted.show(home, is_all, as_json)


@app.command()
def revoke(
    grant: Annotated[str, typer.Argument(metavar="ID", help="As `daimon grants` names it.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take a grant back, from this moment on."""
    from daimon.cli import granted

    granted.revoke(home, grant, as_json)
