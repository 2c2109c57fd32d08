"""`daimon secrets …`: its commands with their arguments. What they do stands in the modules that they import.

No command takes a value or a passphrase as a word: what stands on a command line stands in the history and in the list of processes.
"""

from typing import Annotated, Literal

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `daimon secrets list` names it.", show_default=False)]
Service = Annotated[str | None, typer.Option("--service", metavar="TEXT", help="Who it is for, in your words.", show_default=False)]
Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="HOST", help="Where it may go: api.example.org, *.example.org, 127.0.0.1:8000.", show_default=False),
]
Agents = Annotated[list[str] | None, typer.Option("--agent", metavar="NAME", help="Whose boxes may use it; * for all.", show_default=False)]
Variable = Annotated[
    str | None, typer.Option("--variable", metavar="VARIABLE", help="Where programs of a box look for it.", show_default=False)
]
Source = Literal["file", "passphrase", "keyring", "systemd"]


@app.callback(invoke_without_command=True)
def secrets(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Keep secrets: add, list, who, rotate, scope, forget, remove, seal. Alone it lists them."""
    if context.invoked_subcommand is None:
        from daimon.cli import secrets_list

        secrets_list.own(home, as_json)
    else:
        hand_down(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - every option of the command
    name: Annotated[str, typer.Argument(metavar="NAME", help="As you want to call it.", show_default=False)],
    service: Service = None,
    host: Hosts = None,
    agent: Agents = None,
    variable: Variable = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Add a secret; its value comes from stdin, or is typed unseen."""
    from daimon.cli import secrets_change

    secrets_change.add(home, name, secrets_change.scope(service, host, agent, variable), as_json)


@app.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """Show which secrets there are, and where they may go; never a value."""
    from daimon.cli import secrets_list

    secrets_list.own(home, as_json)


@app.command()
def who(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Show who can use a secret, and who did."""
    from daimon.cli import secrets_list

    secrets_list.who(home, name, as_json)


@app.command()
def rotate(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Give it a new value; the old one is kept out of texts on."""
    from daimon.cli import secrets_change

    secrets_change.rotate(home, name, as_json)


@app.command()
def scope(  # noqa: PLR0913 - every option of the command
    name: Name,
    service: Service = None,
    host: Hosts = None,
    agent: Agents = None,
    variable: Variable = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say anew where it may go and who may use it; what you leave out stays, '' is none."""
    from daimon.cli import secrets_change

    secrets_change.rescope(home, name, secrets_change.scope(service, host, agent, variable), as_json)


@app.command()
def forget(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Forget its old values: they are no longer kept out of texts."""
    from daimon.cli import secrets_change

    secrets_change.forget(home, name, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Remove a secret, with its old values."""
    from daimon.cli import secrets_change

    secrets_change.remove(home, name, as_json)


@app.command()
def seal(
    source: Annotated[Source, typer.Option("--with", help="Where the key of the vault is kept from now on.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Seal the vault anew, with its key in another place."""
    from daimon.cli import secrets_change

    secrets_change.seal(home, source, as_json)
