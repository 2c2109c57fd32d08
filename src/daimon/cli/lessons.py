"""`daimon skills proposals|proposal|accept|reject|uses`: the commands with their arguments. What they do stands in `learned.py`."""

from typing import Annotated

import typer

from daimon.cli.options import Home, Json

Id = Annotated[str, typer.Argument(metavar="ID", help="As `proposals` names it.", show_default=False)]


def register(app: typer.Typer) -> None:
    """They stand among those of skills."""
    for command in (proposals, proposal, accept, reject, uses):
        app.command()(command)


def proposals(
    is_all: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False, home: Home = None, as_json: Json = False
) -> None:
    """List what was learned and waits for your word: skills to have, to change, to give up."""
    from daimon.cli import learned

    learned.show_all(home, is_all, as_json)


def proposal(id_: Id, home: Home = None, as_json: Json = False) -> None:
    """Show one: why, from which turns, and what would change."""
    from daimon.cli import learned

    learned.show(home, id_, as_json)


def accept(
    id_: Id,
    is_edited: Annotated[bool, typer.Option("--edit", help="Change its text first, in $VISUAL or $EDITOR.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Let it count: the skill is installed, changed or given up. You answer for its words then."""
    from daimon.cli import learned

    learned.accept(home, id_, is_edited, as_json)


def reject(id_: Id, home: Home = None, as_json: Json = False) -> None:
    """Turn it down. The same lesson is not proposed again."""
    from daimon.cli import learned

    learned.reject(home, id_, as_json)


def uses(home: Home = None, as_json: Json = False) -> None:
    """Show how skills have served, with and without them: observed, not proof."""
    from daimon.cli import learned

    learned.show_uses(home, as_json)
