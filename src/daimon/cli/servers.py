"""`daimon mcp …`: its commands with their arguments. What they do stands in the modules that they import, as in `commands.py`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `daimon mcp list` names it.", show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", help="Agree to the tools without being asked.")]
Many = list[str] | None
Known = Literal["everything", "fetch", "filesystem", "git", "github", "memory", "sequentialthinking", "time"] | None


@app.callback(invoke_without_command=True)
def mcp(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Servers of the Model Context Protocol: list, add, test, sign in, approve, remove. Alone it lists them."""
    from daimon.cli import server_shown

    if context.invoked_subcommand is None:
        server_shown.show_all(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """Show the servers, how each is, and what waits for you."""
    from daimon.cli import server_shown

    server_shown.show_all(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - every option of the command
    name: Annotated[str, typer.Argument(metavar="NAME", help="Your name for it: small letters and digits.", show_default=False)],
    command: Annotated[Many, typer.Argument(metavar="-- COMMAND", help="What to run, in a box.", show_default=False)] = None,
    url: Annotated[str, typer.Option(metavar="URL", help="Its address, instead of a command.", show_default=False)] = "",
    oauth: Annotated[bool, typer.Option("--oauth", help="You sign in there (`daimon mcp login`).")] = False,
    env: Annotated[Many, typer.Option(metavar="VAR=VALUE", help="Of its environment; nothing secret.", show_default=False)] = None,
    secret: Annotated[
        Many, typer.Option(metavar="VAR=NAME", help="A variable, or a header of requests, and the vault's secret.", show_default=False)
    ] = None,
    host: Annotated[Many, typer.Option(metavar="HOST[:PORT]", help="That the command may reach.", show_default=False)] = None,
    read: Annotated[Many, typer.Option(metavar="DIR", help="That the command sees.", show_default=False)] = None,
    write: Annotated[Many, typer.Option(metavar="DIR", help="That it may change.", show_default=False)] = None,
    known: Annotated[Known, typer.Option(help="It is this public server, whose tools Daimon knows.", show_default=False)] = None,
    is_agreed: Yes = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Connect a server: daimon mcp add NAME -- COMMAND…, or --url. Shows its tools and asks once."""
    from daimon.cli import server_add

    said = server_add.said(
        command=command, url=url, oauth=oauth, environment=env, secrets=secret, hosts=host, read=read, write=write, known=known
    )
    server_add.add(home, name, said, is_agreed, as_json)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="With `mcpServers` (or `servers`), as other clients have it.")],
    only: Annotated[Many, typer.Option(metavar="NAME", help="Only these of it.", show_default=False)] = None,
    is_agreed: Annotated[bool, typer.Option("--yes", help="Move what looks like a secret into the vault without being asked.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take over servers from another client's file. Nothing is run: `daimon mcp review NAME` shows what each has."""
    from daimon.cli import server_import

    server_import.take_over(home, file, tuple(only or ()), is_agreed, as_json)


@app.command()
def show(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Show a server and all its tools, with what each may do."""
    from daimon.cli import server_shown

    server_shown.show(home, name, as_json)


@app.command()
def test(name: Name, home: Home = None, as_json: Json = False) -> None:  # noqa: PT028 - not a test, a command
    """Connect, ask for the tools, and say how long that took."""
    from daimon.cli import server_shown

    server_shown.test(home, name, as_json)


@app.command()
def review(name: Name, is_agreed: Yes = False, home: Home = None, as_json: Json = False) -> None:
    """Show what is new or changed of its tools, and ask whether it may be used."""
    from daimon.cli import server_shown

    server_shown.review(home, name, is_agreed, as_json)


@app.command()
def approve(
    name: Name,
    tool: Annotated[Many, typer.Argument(metavar="TOOL", help="Left out: all that wait.", show_default=False)] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Agree to tools that wait, as they were last seen."""
    from daimon.cli import server_shown

    server_shown.approve(home, name, tuple(tool or ()), as_json)


@app.command()
def login(  # noqa: PLR0913 - every option of the command
    name: Name,
    by_device: Annotated[bool, typer.Option("--device", help="With a code on another device: for a machine without a browser.")] = False,
    pastes: Annotated[bool, typer.Option("--paste", help="Paste the address that the browser was sent back to.")] = False,
    client_id: Annotated[str, typer.Option(metavar="ID", help="Of a client that you registered there.", show_default=False)] = "",
    client_secret: Annotated[str, typer.Option(metavar="NAME", help="The vault's secret that is that client's.", show_default=False)] = "",
    at: Annotated[Many, typer.Option(metavar="HOST", help="Of the sign-in page, where it is not the issuer's.", show_default=False)] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the browser comes back; 0: any.")] = 0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Sign in at a server that wants it. Tokens go into the vault and renew themselves."""
    from daimon.cli import server_login

    wish = server_login.Wish(name, by_device, pastes, client_id, client_secret, tuple(at or ()), port)
    server_login.login(home, wish, as_json)


@app.command()
def logout(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Forget the tokens, here and there."""
    from daimon.cli import server_login

    server_login.logout(home, name, as_json)


@app.command()
def on(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Use a server again."""
    from daimon.cli import server_change

    server_change.switch(home, name, True, as_json)


@app.command()
def off(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Leave a server alone for now."""
    from daimon.cli import server_change

    server_change.switch(home, name, False, as_json)


@app.command()
def remove(
    name: Name,
    forgets: Annotated[
        bool | None, typer.Option("--forget/--no-forget", help="Delete for good all that came from it too.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take a server away: settings, what you agreed to, tokens; and, if you want, all that came from it."""
    from daimon.cli import server_change

    server_change.remove(home, name, forgets, as_json)
