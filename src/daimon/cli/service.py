"""`daimon service …`: its commands with their arguments. What they do stands in `service_user.py`."""

from typing import Annotated

import typer

from daimon.cli.options import Json

app = typer.Typer(help="Running it as a service: a user of its own.", no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def everywhere() -> None:
    """Keeps `user` a command of its own while it is the only one."""


@app.command()
def user(
    name: Annotated[str, typer.Option(metavar="NAME", help="What it is called.")] = "daimon",
    is_agreed: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Make a system user for the gateway: no password, no shell, a home of its own. Needs root."""
    from daimon.cli import service_user

    service_user.make(name, is_agreed, as_json)
