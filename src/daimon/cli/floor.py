"""`daimon floor …`: what never runs, whatever any policy says."""

import sys
from typing import Annotated

import typer

from daimon.cli.options import Home, Json

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="What never runs, whatever any policy says.")


@app.callback()
def group() -> None:
    """Without this a group of one command would be the command itself."""


@app.command()
def check(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND...", help="One word is a command line; several are its words.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say whether a command may run; exit code 3 if it never may. Put it behind `--`. Nothing is run."""
    from daimon import config, homes, law
    from daimon.cli import exits, screen

    with law.floor_of(config.settings_of(homes.home_at(home))) as floor:
        why = floor.check(command[0]) if len(command) == 1 else floor.check_words(command)
    if as_json:
        screen.emit_value({"may_run": not why, "reason": why})
    else:
        screen.say(why or "the floor lets it pass; whether it may run is for the policies to say")
    sys.exit(exits.NOT_FOUND if why else exits.OK)
