"""`daimon sandbox …`: its commands with their arguments. What they do stands in `boxed.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="The box that commands run in: try it, examine it.")


@app.command()
def run(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run, after two dashes.")],
    role: Annotated[str, typer.Option(metavar="ROLE", help="What the box may do; `daimon sandbox roles` lists them.")] = "worker",
    workspace: Annotated[Path | None, typer.Option(metavar="DIR", help="The directory that it works in.", show_default="here")] = None,
    allow_host: Annotated[list[str] | None, typer.Option(metavar="HOST", help="May be reached, besides the role's places.")] = None,
    home: Home = None,
) -> None:
    """Run a command in a box. The exit code is the command's; 125 means that no box could be made."""
    from daimon.cli import boxed

    boxed.run(home, tuple(command), role, workspace or Path(), tuple(allow_host or ()))


@app.command()
def doctor(home: Home = None, as_json: Json = False) -> None:
    """Make a box, look from inside, and say what holds it."""
    from daimon.cli import boxed

    boxed.doctor(home, as_json)


@app.command()
def roles(home: Home = None, as_json: Json = False) -> None:
    """List the roles that a box can have."""
    from daimon.cli import boxed

    boxed.roles(home, as_json)
