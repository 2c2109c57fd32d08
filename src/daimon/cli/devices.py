"""`daimon devices …`: its commands with their arguments. What they do stands in `devised.py`."""

from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
Id = Annotated[str, typer.Argument(metavar="DEVICE", help="As `daimon devices` lists it.", show_default=False)]
Code = Annotated[str, typer.Argument(metavar="CODE", help="As the device shows it.", show_default=False)]
Rights = Annotated[str, typer.Option("--rights", metavar="RIGHTS", help="What it may do: some of read,chat,approve,admin.")]


@app.callback(invoke_without_command=True)
def devices(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Show which browsers and phones are signed in, and which ask to be."""
    from daimon.cli import devised

    if context.invoked_subcommand is None:
        devised.show(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list", hidden=True)
def list_(home: Home = None, as_json: Json = False) -> None:
    """The same as without a command."""
    from daimon.cli import devised

    devised.show(home, as_json)


@app.command()
def approve(code: Code, rights: Rights = "read,chat", home: Home = None, as_json: Json = False) -> None:
    """Let a device in that asks, after you compared its code."""
    from daimon.cli import devised

    devised.approve(home, code, rights, as_json)


@app.command()
def refuse(code: Code, home: Home = None, as_json: Json = False) -> None:
    """Refuse a device that asks."""
    from daimon.cli import devised

    devised.refuse(home, code, as_json)


@app.command()
def revoke(device: Id, home: Home = None, as_json: Json = False) -> None:
    """Sign a device out for good."""
    from daimon.cli import devised

    devised.revoke(home, device, as_json)


@app.command()
def rights(
    device: Id,
    to: Annotated[str, typer.Argument(metavar="RIGHTS", help="Some of read,chat,approve,admin.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Change what a device may do."""
    from daimon.cli import devised

    devised.rights(home, device, to, as_json)
