"""`daimon calendar …`: its commands with their arguments. What they do stands in `planned.py`, as in `commands.py`."""

from typing import Annotated, Literal

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Small letters and digits, such as work.", show_default=False)]


@app.callback(invoke_without_command=True)
def calendar(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """The calendars that the agent sees: list, add, test, remove. Alone it lists them."""
    from daimon.cli import planned

    if context.invoked_subcommand is None:
        planned.show(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """Show the calendars that are set up."""
    from daimon.cli import planned

    planned.show(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - every option of the command
    name: Name,
    url: Annotated[str, typer.Option(help="Of the calendar, or of the server.", show_default=False)],
    user: Annotated[str, typer.Option(help="Who you are there; the password is asked for, or comes through stdin.")] = "",
    title: Annotated[str, typer.Option("--calendar", metavar="TITLE", help="Which one, where a server has several.")] = "",
    address: Annotated[str, typer.Option(help="Your mail address there, to invite under.", show_default=False)] = "",
    others: Annotated[
        Literal["none", "invite", "read"], typer.Option(help="Who else writes into it (invite), or sees it too (read).")
    ] = "invite",
    read_only: Annotated[bool, typer.Option("--read-only", help="The agent only looks.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Set a calendar up, by CalDAV: it is looked for live before anything is written."""
    from daimon.cli import planned

    said: dict[str, object] = {"url": url, "user": user, "address": address, "others": others, "changeable": False if read_only else None}
    planned.add(home, name, planned.drafted(said), title, as_json)


Any = Annotated[str, typer.Argument(metavar="NAME", help="Left out: all.")]


@app.command()
def test(name: Any = "", home: Home = None, as_json: Json = False) -> None:  # noqa: PT028 - not a test, a command
    """Ask the server live, and count the events of the next week."""
    from daimon.cli import planned

    planned.test(home, name, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Take a calendar out, with its password. Nothing on the server changes."""
    from daimon.cli import planned

    planned.remove(home, name, as_json)
