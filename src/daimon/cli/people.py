"""`daimon people …`: its commands with their arguments. What they do stands in `introduced.py`."""

from typing import Annotated

import typer

from daimon.abi.rank import Rank
from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
Who = Annotated[str, typer.Argument(metavar="PERSON", help="As `daimon people` names them.", show_default=False)]
Contact = Annotated[str, typer.Argument(metavar="CHANNEL:SENDER", help="As `daimon people` lists those who knocked.", show_default=False)]


@app.callback(invoke_without_command=True)
def people(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Show who may talk to the agent, and which strangers tried."""
    from daimon.cli import introduced

    if context.invoked_subcommand is None:
        introduced.show(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list", hidden=True)
def list_(home: Home = None, as_json: Json = False) -> None:
    """The same as without a command."""
    from daimon.cli import introduced

    introduced.show(home, as_json)


@app.command()
def invite(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who it is for; left out: you.", show_default=False)] = "",
    rank: Annotated[Rank | None, typer.Option("--as", help="Guest, if a name is given.", show_default=False)] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make a code that pairs a chat: of your own, or of somebody else."""
    from daimon.cli import introduced

    introduced.invite(home, name, rank or (Rank.GUEST if name else Rank.OWNER), as_json)


@app.command()
def allow(
    contact: Contact,
    name: Annotated[str, typer.Option("--name", help="What you call them.", show_default=False)] = "",
    rank: Annotated[Rank, typer.Option("--as", help="What they may do.")] = Rank.GUEST,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Let a chat in without a code."""
    from daimon.cli import introduced

    introduced.allow(home, contact, name, rank, as_json)


@app.command()
def rank(
    person: Who,
    to: Annotated[Rank, typer.Argument(metavar="RANK", help="trusted or guest.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Change what a person may do."""
    from daimon.cli import introduced

    introduced.rank(home, person, to, as_json)


@app.command()
def remove(
    person: Who,
    contact: Annotated[str, typer.Argument(metavar="CHANNEL:SENDER", help="Only this chat of theirs.", show_default=False)] = "",
    is_agreed: Annotated[bool, typer.Option("--yes", help="Do not ask, where it is your own last chat.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make somebody a stranger again."""
    from daimon.cli import introduced

    introduced.remove(home, person, contact, is_agreed, as_json)
