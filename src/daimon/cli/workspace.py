"""`daimon workspace …`: its commands with their arguments. What they do stands in `layered.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
Which = Annotated[str, typer.Argument(metavar="ID", help="A workspace, by id or name; left out: the agent's own.", show_default=False)]
Of = Annotated[str, typer.Option("--of", metavar="ID", help="The workspace, by id or name.", show_default="the agent's own")]
Name = Annotated[str, typer.Option(metavar="NAME", help="What to call it.", show_default="its id")]
Point = Annotated[str, typer.Argument(metavar="CHECKPOINT", help="As `workspace list ID` names it.", show_default=False)]


@app.callback(invoke_without_command=True)
def workspace(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """The files that agents work on: look, go back, fork, merge, apply. Alone it lists the workspaces."""
    if context.invoked_subcommand is None:
        from daimon.cli import layered

        layered.show(home, "", as_json)
    else:
        hand_down(home, as_json)


@app.command()
def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of yours. It stays as it is until you apply.")],
    name: Name = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make a workspace for a directory."""
    from daimon.cli import layered

    layered.new(home, directory, name, as_json)


@app.command(name="list")
def list_(which: Which = "", home: Home = None, as_json: Json = False) -> None:
    """List workspaces; with an ID, the checkpoints of that one."""
    from daimon.cli import layered

    layered.show(home, which, as_json)


@app.command()
def checkpoint(
    which: Which = "",
    why: Annotated[str, typer.Option(metavar="TEXT", help="What it is for.")] = "by hand",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Keep the files as they are now."""
    from daimon.cli import layered

    layered.checkpoint(home, which, why, as_json)


@app.command()
def fork(
    which: Which = "",
    name: Name = "",
    at: Annotated[str, typer.Option(metavar="CHECKPOINT", help="Begin there.", show_default="as it is now")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make a second workspace that begins where this one is. `merge` brings its changes back, `discard` drops it."""
    from daimon.cli import layered

    layered.fork(home, which, name, at, as_json)


@app.command()
def run(
    which: Annotated[str, typer.Argument(metavar="ID", help="A workspace, by id or name.")],
    command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run, after two dashes.")],
    role: Annotated[str, typer.Option(metavar="ROLE", help="What the box may do.")] = "worker",
    home: Home = None,
) -> None:
    """Run a command in a box on a workspace. The exit code is the command's; 125 means that no box could be made."""
    from daimon.cli import layered

    layered.run(home, which, tuple(command), role)


@app.command()
def diff(
    which: Which = "",
    since: Annotated[str, typer.Option(metavar="CHECKPOINT", help="From there.", show_default="your directory as it is")] = "",
    until: Annotated[str, typer.Option(metavar="CHECKPOINT", help="Up to there.", show_default="now")] = "",
    text: Annotated[bool, typer.Option("--text", "-p", help="Also the lines that changed.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show what changed: names, and with --text the lines."""
    from daimon.cli import layered

    layered.diff(home, which, (since, until), text, as_json)


@app.command()
def merge(
    which: Annotated[str, typer.Argument(metavar="FORK", help="The fork whose changes are taken, by id or name.")],
    into: Annotated[str, typer.Option(metavar="ID", help="Where they go.", show_default="the agent's own")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Bring the changes of a fork back. Stops at conflicts, names them, and changes nothing then."""
    from daimon.cli import layered

    layered.merge(home, which, into, as_json)


@app.command()
def restore(to: Point, of: Of = "", home: Home = None, as_json: Json = False) -> None:
    """Go to a checkpoint, earlier or later. What is there now is kept as one too."""
    from daimon.cli import layered

    layered.restore(home, of, to, as_json)


@app.command()
def discard(
    which: Annotated[str, typer.Argument(metavar="ID", help="A workspace, by id or name.")],
    is_meant: Annotated[bool, typer.Option("--yes", help="Also one that is no fork, with all that was not applied.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove a fork with all its checkpoints, for good. Your directory stays as it is."""
    from daimon.cli import layered

    layered.discard(home, which, is_meant, as_json)


@app.command(name="apply")
def apply_(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Only these, and what is below.")] = None,
    of: Of = "",
    with_programs: Annotated[bool, typer.Option(help="Also files that run by themselves, such as git hooks.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write what changed into your own directory. `daimon undo` takes it back."""
    from daimon.cli import layered

    layered.apply(home, of, tuple(paths or ()), with_programs, as_json)
