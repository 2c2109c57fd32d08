"""`daimon skills …`: its commands with their arguments. What they do stands in `skilled.py`."""

from typing import Annotated

import typer

from daimon.cli import lessons
from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `list` names it.", show_default=False)]
Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A directory, an archive, an https address; #PATH for one in it, @REV.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.callback(invoke_without_command=True)
def skills(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Skills: install them, see what they may do, take them away. Alone it lists them."""
    if context.invoked_subcommand is None:
        from daimon.cli import skilled

        skilled.show_all(home, as_json)
    else:
        hand_down(home, as_json)


@app.command(name="list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """List the skills with their state."""
    from daimon.cli import skilled

    skilled.show_all(home, as_json)


@app.command()
def show(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Show a skill: what it says of itself, its files, and what it may do."""
    from daimon.cli import skilled

    skilled.show(home, name, as_json)


@app.command()
def validate(source: Source, home: Home = None, as_json: Json = False) -> None:
    """Check a skill without installing it."""
    from daimon.cli import skilled

    skilled.validate(home, source, as_json)


@app.command()
def install(source: Source, is_meant: Yes = False, home: Home = None, as_json: Json = False) -> None:
    """Show what a source holds and what it requires, and install it after a yes. Nothing of it is run."""
    from daimon.cli import skilled

    skilled.install(home, source, is_meant, as_json)


@app.command()
def update(name: Name, is_meant: Yes = False, home: Home = None, as_json: Json = False) -> None:
    """Fetch a skill again from where it came from, show what is different, and take it after a yes."""
    from daimon.cli import skilled

    skilled.update(home, name, is_meant, as_json)


@app.command()
def remove(
    name: Name,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    is_meant: Yes = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take a skill away with all that came of it: files, tools, memory, reminders, automations, hooks, grants."""
    from daimon.cli import skilled

    skilled.remove(home, name, is_dry, is_meant, as_json)


@app.command(name="test")
def try_(name: Name, home: Home = None, as_json: Json = False) -> None:
    """See whether a skill is well: its files, and `scripts/test*` in its box. Exits with 1 where it is not."""
    from daimon.cli import skilled

    skilled.test(home, name, as_json)


@app.command()
def approve(name: Name, is_meant: Yes = False, home: Home = None, as_json: Json = False) -> None:
    """Say yes to what a skill requires, in the version that is installed."""
    from daimon.cli import skilled

    skilled.approve(home, name, is_meant, as_json)


@app.command()
def vouch(
    name: Name,
    is_ended: Annotated[bool, typer.Option("--end", help="Its words are a stranger's again.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Answer for the words of a skill: you have read it, and it counts as yours until it changes."""
    from daimon.cli import skilled

    skilled.change(home, name, "unvouch" if is_ended else "vouch", as_json)


@app.command()
def disable(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Switch a skill off; it stays installed."""
    from daimon.cli import skilled

    skilled.change(home, name, "disable", as_json)


@app.command()
def enable(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Switch a skill on again."""
    from daimon.cli import skilled

    skilled.change(home, name, "enable", as_json)


lessons.register(app)
