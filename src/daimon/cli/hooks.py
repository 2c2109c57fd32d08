"""`daimon hooks …`: its commands with their arguments. What they do stands in `hooked.py`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Scheme = Literal["github", "slack", "stripe", "generic"]
"""As `abi.hook`, which takes long to import, has it."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `daimon hooks list` names it.", show_default=False)]


@app.callback(invoke_without_command=True)
def hooks(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Let services post here: add, list, show, deliveries, pause, resume, rotate, test, remove. Alone it lists them."""
    from daimon.cli import hooked

    if context.invoked_subcommand is None:
        hooked.show_all(home, as_json)
    else:
        hand_down(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - every option of the command
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Part of its address: up to 50 small letters, digits, '-', '_', '.'", show_default=False)
    ],
    scheme: Annotated[
        Literal["github", "slack", "stripe", "generic"], typer.Option("--scheme", help="How the service signs.", show_default=False)
    ],
    task: Annotated[str, typer.Option("--task", metavar="TEXT", help="What to do with a delivery.", show_default=False)] = "",
    collect: Annotated[bool, typer.Option("--collect", help="Keep deliveries for an automation; begin no turn.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="AT=A,B", help="/action=opened,reopened or header:X-GitHub-Event=push.", show_default=False),
    ] = None,
    schema: Annotated[Path | None, typer.Option("--schema", metavar="FILE", help="JSON Schema of the body.", show_default=False)] = None,
    to: Annotated[str, typer.Option("--to", metavar="CHANNEL:PLACE", help="Where answers go.", show_default=False)] = "",
    conversation: Annotated[str, typer.Option("--conversation", metavar="NAME", help="hooks/NAME if left out.", show_default=False)] = "",
    per_minute: Annotated[int, typer.Option("--per-minute", help="More are told to wait.")] = 600,
    most_bytes: Annotated[int, typer.Option("--most-bytes", help="Of one body.")] = 1024 * 1024,
    tolerance_s: Annotated[int, typer.Option("--tolerance", metavar="SECONDS", help="Of timestamps; generic, 0: none is sent.")] = 300,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make a hook and its secret; prints the address and, once, the secret."""
    from daimon.cli import hooked

    limits = hooked.Limits(per_minute, most_bytes, tolerance_s)
    hooked.add(home, hooked.wished(name, scheme, hooked.Wish(task, collect, only or [], schema, to, conversation), limits), as_json)


@app.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """Show which hooks there are."""
    from daimon.cli import hooked

    hooked.show_all(home, as_json)


@app.command()
def show(
    name: Name,
    secret: Annotated[bool, typer.Option("--secret", help="Also its secret, to enter it at the service.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show a hook and its address."""
    from daimon.cli import hooked

    hooked.show(home, name, secret, as_json)


@app.command()
def deliveries(
    name: Name,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="At most so many.")] = 20,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show what came, newest first, and what became of it."""
    from daimon.cli import hooked

    hooked.deliveries(home, name, limit, as_json)


@app.command()
def pause(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Take nothing in for a while; the service is told to try later."""
    from daimon.cli import hooked

    hooked.change(home, name, as_json, is_paused=True)


@app.command()
def resume(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Take deliveries in again."""
    from daimon.cli import hooked

    hooked.change(home, name, as_json, is_paused=False)


@app.command()
def rotate(
    name: Name,
    done: Annotated[bool, typer.Option("--done", help="The service has the new one: the old one ends.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Make the next secret; both count until `rotate --done`."""
    from daimon.cli import hook_secrets

    hook_secrets.rotate(home, name, done, as_json)


@app.command("test")
def sample(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Send a signed sample to the running gateway."""
    from daimon.cli import hooked

    hooked.send_sample(home, name, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Remove a hook with its secret, and what it collected."""
    from daimon.cli import hooked

    hooked.remove(home, name, as_json)
