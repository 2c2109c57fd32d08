"""`daimon policy …`: its commands with their arguments. What they do stands in the modules that they import, as in `commands.py`."""

from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Text = str | None
Texts = list[str] | None


@app.callback(invoke_without_command=True)
def policy(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """What agents may do: show, check, test and explain the policies. Alone it shows them."""
    if context.invoked_subcommand is None:
        from daimon.cli import policy_files

        policy_files.show(home, as_json)
    else:
        hand_down(home, as_json)


@app.command()
def show(home: Home = None, as_json: Json = False) -> None:
    """List every policy that counts, in words."""
    from daimon.cli import policy_files

    policy_files.show(home, as_json)


@app.command("list", hidden=True)
def list_(home: Home = None, as_json: Json = False) -> None:
    """The same as `show`."""
    from daimon.cli import policy_files

    policy_files.show(home, as_json)


@app.command()
def check(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="Left out: those of the home.", show_default=False)] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say whether policy files are good; if not, where and why."""
    from daimon.cli import policy_files

    policy_files.check(home, files or [], as_json)


@app.command()
def test(home: Home = None, as_json: Json = False) -> None:  # noqa: PT028 - not a test, a command
    """Run the tests in policy/tests/*.toml of the home, and those that come with Daimon."""
    from daimon.cli import policy_files

    policy_files.test(home, as_json)


@app.command()
def explain(  # noqa: PLR0913 - every option of the command
    step: Annotated[Text, typer.Argument(metavar="TURN:STEP", help="A call, as `daimon trace` numbers it.", show_default=False)] = None,
    agent: Annotated[Text, typer.Option(metavar="NAME", help="Who would call.", show_default="daimon")] = None,
    tool: Annotated[Text, typer.Option(metavar="NAME", help="What it would call.", show_default=False)] = None,
    capability: Annotated[Texts, typer.Option(metavar="WORD", help="What the tool would do, such as sends.", show_default=False)] = None,
    basis: Annotated[Text, typer.Option(metavar="WORD", help="harmless, clean, plan, words, none or off_plan.", show_default=False)] = None,
    on_behalf: Annotated[Text, typer.Option(metavar="NAME", help="Whom the turn would serve.", show_default="owner")] = None,
    author: Annotated[Texts, typer.Option(metavar="WORD", help="Whose words it has read: owner, service, agent, stranger.")] = None,
    to: Annotated[Texts, typer.Option(metavar="PLACE", help="A destination.", show_default=False)] = None,
    active: Annotated[bool, typer.Option("--active", help="Its text holds links or addresses that are not the owner's.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say why a call was allowed, asked or denied, or what would become of one."""
    from daimon.cli import explain as explaining

    given = {
        "agent": agent,
        "tool": tool,
        "capabilities": capability,
        "basis": basis,
        "on_behalf": on_behalf,
        "authors": author,
        "destinations": to,
        "is_active": active or None,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if step is not None and asked:
        raise typer.BadParameter("either a recorded call or one that is made up, not both", param_hint="TURN:STEP")
    if step is not None:
        explaining.recorded(home, step, as_json)
    elif asked:
        explaining.supposed(home, asked, as_json)
    else:
        raise typer.BadParameter("name a recorded call, or make one up with --tool or --capability and --basis", param_hint="TURN:STEP")
