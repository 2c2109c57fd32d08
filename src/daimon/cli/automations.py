"""`daimon automations …`: its commands with their arguments. What they do stands in `automated.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
Name = Annotated[str, typer.Argument(metavar="NAME", help="As `daimon automations` names it.", show_default=False)]
Many = Annotated[int, typer.Option("-n", "--number", metavar="N", help="How many.", min=1, max=1_000)]


@app.callback(invoke_without_command=True)
def automations(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Show what happens by itself; `add` makes something happen, on a schedule or when something changes."""
    from daimon.cli import automated

    if context.invoked_subcommand is None:
        automated.show_all(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list", hidden=True)
def list_(home: Home = None, as_json: Json = False) -> None:
    """The same as without a command."""
    from daimon.cli import automated

    automated.show_all(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - each is an option of the command line
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits, hyphens. One with this name is replaced.")],
    schedule: Annotated[str, typer.Argument(metavar="SCHEDULE", help='"every weekday at 8", "in 2 hours", or a cron line.')],
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done, in your words.")],
    watch_feed: Annotated[list[str] | None, typer.Option(metavar="URL", help="Only new items wake it; repeat for more feeds.")] = None,
    watch_page: Annotated[str, typer.Option(metavar="URL", help="Only a change of this page wakes it.")] = "",
    selector: Annotated[str, typer.Option(metavar="CSS", help="Of the page: only this part.")] = "",
    watch_files: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only changed files wake it; may be repeated.")] = None,
    watch_refs: Annotated[str, typer.Option(metavar="REPO", help="Only changed branches and tags of this repository.")] = "",
    watch_output: Annotated[str, typer.Option(metavar="COMMAND", help="Only another output of this command, run in the box.")] = "",
    watch_hook: Annotated[str, typer.Option(metavar="NAME", help="Only what this webhook collected.")] = "",
    watch_mailbox: Annotated[str, typer.Option(metavar="FOLDER", help="Only new mail in this folder.")] = "",
    to: Annotated[str, typer.Option(metavar="CHANNEL:PLACE", help="Where results go, if not to you.")] = "",
    model: Annotated[str, typer.Option(metavar="NAME", help="Who is asked first.")] = "",
    cost_per_day: Annotated[str, typer.Option(metavar="DOLLARS", help="What it may cost a day, if not `budget.job`.")] = "",
    tokens_per_day: Annotated[int, typer.Option(metavar="N", help="How many tokens it may take a day.", min=0)] = 0,
    catch_up: Annotated[str, typer.Option(metavar="skip|once|all", help="What becomes of times that were missed.")] = "once",
    overlap: Annotated[str, typer.Option(metavar="skip|wait", help="What happens while the last one still goes on.")] = "skip",
    jitter: Annotated[float, typer.Option(metavar="SECONDS", help="Put off each time by up to so much.", min=0)] = 0.0,
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="An IANA name, if not yours.")] = "",
    licence: Annotated[Path | None, typer.Option(metavar="FILE", help="What each turn may do without a question; see the docs.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make something happen by itself, or change it."""
    from daimon.cli import automated

    watches = automated.Watches(
        tuple(watch_feed or ()), watch_page, selector, tuple(watch_files or ()), watch_refs, watch_output, watch_hook, watch_mailbox
    )
    wish = automated.Wish(
        name, schedule, task, watches, to, model, cost_per_day, tokens_per_day, catch_up, overlap, jitter, timezone, licence
    )
    automated.add(home, wish, as_json)


@app.command()
def show(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Show one with all that it says, and its last times."""
    from daimon.cli import automated

    automated.show(home, name, as_json)


@app.command()
def preview(
    schedule: Annotated[str, typer.Argument(metavar="NAME|SCHEDULE", help="An automation, or a schedule in words.")],
    number: Many = 10,
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="An IANA name, if not yours.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show the next times."""
    from daimon.cli import automated

    automated.preview(home, schedule, timezone, number, as_json)


@app.command()
def ticks(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Only of this one.", show_default=False)] = "",
    number: Many = 20,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show each time that something was due, and what became of it."""
    from daimon.cli import automated

    automated.ticks(home, name, number, as_json)


@app.command()
def run(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Run one now, paused or not."""
    from daimon.cli import automated

    automated.run(home, name, as_json)


@app.command()
def pause(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Let it rest; each time is recorded as skipped."""
    from daimon.cli import automated

    automated.pause(home, name, True, as_json)


@app.command()
def resume(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Go on."""
    from daimon.cli import automated

    automated.pause(home, name, False, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Take it away. What it did stays on record."""
    from daimon.cli import automated

    automated.remove(home, name, as_json)
