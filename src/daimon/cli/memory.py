"""`daimon memory …`: its commands with their arguments. What they do stands in `remembered.py` and `exchanged.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")
page = typer.Typer(rich_markup_mode="rich")
app.add_typer(page, name="page")

Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="message, note, fact, episode, value or summary; may be repeated.", show_default="all"),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="As `search` and `list` name it.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="At most so many.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Moment = "2026-11-15, 2026-11-15T09:30, `today`, `2h` …"


@app.callback(invoke_without_command=True)
def memory(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """What is kept: find it, ask why, correct it, take it back. Alone it lists it."""
    if context.invoked_subcommand is None:
        from daimon.cli import remembered

        remembered.show_all(home, (), False, as_json)
    else:
        hand_down(home, as_json)


@app.command()
def search(  # noqa: PLR0913 - the options of a command
    words: Annotated[list[str] | None, typer.Argument(help="What to look for. Left out: the newest.", show_default=False)] = None,
    kind: Kinds = None,
    since: Annotated[str, typer.Option(metavar="TIME", help=Moment, show_default=False)] = "",
    until: Annotated[str, typer.Option(metavar="TIME", help=f"{Moment}; a day counts whole.", show_default=False)] = "",
    source: Annotated[str, typer.Option(metavar="SOURCE", help="Only what came from there: web:example.org.", show_default=False)] = "",
    limit: Limit = 10,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Find what is kept and what was said, the best first, with why it was found."""
    from daimon.cli import remembered

    remembered.search(home, remembered.Wanted(" ".join(words or ()), tuple(kind or ()), since, until, source, limit), as_json)


@app.command(name="list")
def list_(
    kind: Kinds = None,
    is_all: Annotated[bool, typer.Option("--all", help="Also messages, and what is over.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """List what is kept on purpose: notes, facts, values."""
    from daimon.cli import remembered

    remembered.show_all(home, tuple(kind or ()), is_all, as_json)


@page.callback(invoke_without_command=True)
def page_(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Show what stands in every prompt; `add` and `remove` change it."""
    from daimon.cli import remembered

    if context.invoked_subcommand is None:
        remembered.show_page(home, as_json)
    else:
        hand_down(home, as_json)


@page.command()
def add(
    text: Annotated[list[str], typer.Argument(help="What is to stand there.", show_default=False)], home: Home = None, as_json: Json = False
) -> None:
    """Write a note on the page."""
    from daimon.cli import remembered

    remembered.add_to_page(home, " ".join(text), as_json)


@page.command()
def remove(id_: Id, home: Home = None, as_json: Json = False) -> None:
    """Take a note off the page. It goes on as a note like others; `daimon memory forget` ends it."""
    from daimon.cli import remembered

    remembered.take_off_page(home, id_, as_json)


@app.command()
def why(id_: Id, home: Home = None, as_json: Json = False) -> None:
    """Show the receipt of an item: where it comes from, whom it rests on, what it replaced."""
    from daimon.cli import receipts

    receipts.why(home, id_, as_json)


@app.command()
def history(
    about: Annotated[str, typer.Argument(metavar="ID|SUBJECT", help="An item, or whom or what facts are about.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show all that ever held of it, the oldest first."""
    from daimon.cli import remembered

    remembered.history(home, about, as_json)


@app.command()
def learn(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about: `owner` is you.", show_default=False)],
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="A whole sentence.", show_default=False)],
    about: Annotated[str, typer.Option(metavar="THING", help="Which thing of it (city): what held of it ends.", show_default=False)] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """State a fact in your own words."""
    from daimon.cli import remembered

    remembered.learn(home, (subject, statement, about), as_json)


@app.command()
def forget(
    id_: Annotated[str, typer.Argument(metavar="ID", help="It becomes history, and can be taken back.", show_default=False)] = "",
    source: Annotated[
        str,
        typer.Option(
            metavar="SOURCE", help="Delete for good all that came from there: web:example.org, an event, a turn.", show_default=False
        ),
    ] = "",
    is_meant: Yes = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Forget an item; or delete for good, in memory and journal, all that came from a source and all that was made of it."""
    from daimon.cli import remembered

    if bool(id_) is bool(source):
        raise typer.BadParameter("give an ID or --source, one of them")
    if source:
        remembered.forget_source(home, source, is_meant, as_json)
    else:
        remembered.forget(home, id_, as_json)


@app.command()
def restore(
    at: Annotated[str, typer.Option("--at", metavar="TIME", help=Moment, show_default=False)],
    is_meant: Yes = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make everything that is kept on purpose as it was then. Restoring to a later time takes that back."""
    from daimon.cli import remembered

    remembered.restore(home, at, is_meant, as_json)


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A new file, for your eyes only.", show_default="stdout")] = None,
    kind: Kinds = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write what is kept as lines of JSON."""
    from daimon.cli import exchanged

    exchanged.export(home, file, tuple(kind or ()), as_json)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Made by `export`; `-` is stdin.", show_default=False)],
    is_foreign: Annotated[
        bool, typer.Option("--untrusted", help="Others had this file in their hands: nothing in it counts as your word.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take in what `export` wrote. What is known here stays as it is; one bad line, and nothing is taken in."""
    from daimon.cli import exchanged

    exchanged.import_(home, file, is_foreign, as_json)


@app.command()
def graph(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="MATCH (a:Person)-[r]->(b) RETURN a, r, b", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Ask how things are related, in a part of Cypher."""
    from daimon.cli import remembered

    remembered.graph(home, query, as_json)
