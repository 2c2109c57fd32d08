"""`daimon channel …`: its commands with their arguments. What they do stands in the modules that they import, as in `commands.py`."""

from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from daimon.cli.options import Home, Json, hand_down

KINDS = "telegram, slack, mail or matrix"


class _Kinds(TyperGroup):
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None:
            ctx.fail(f"there is no channel {cmd_name[:80]!r}; it is one of {KINDS}")
        return found


app = typer.Typer(rich_markup_mode="rich")
adding = typer.Typer(cls=_Kinds, no_args_is_help=True, rich_markup_mode="rich", help=f"Set up a channel: {KINDS}.")
app.add_typer(adding, name="add")

Text = str | None
Name = Annotated[str, typer.Argument(metavar="NAME", help=f"{KINDS}.", show_default=False)]
NoTest = Annotated[bool, typer.Option("--no-test", help="Do not try it live before it is written.")]
Pair = Annotated[bool | None, typer.Option("--pair/--no-pair", help="Make the code that pairs your own chat.", show_default=False)]
Variable = Annotated[Text, typer.Option(metavar="VAR", help="The environment variable that holds it.", show_default=False)]


@app.callback(invoke_without_command=True)
def channel(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """How people reach the agent: list, add, test, poke, remove. Alone it lists them."""
    from daimon.cli import channel_list

    if context.invoked_subcommand is None:
        channel_list.show(home, as_json)
    else:
        hand_down(home, as_json)


@app.command("list")
def list_(home: Home = None, as_json: Json = False) -> None:
    """Show the channels, how they are, what waits to go out, and what could be added."""
    from daimon.cli import channel_list

    channel_list.show(home, as_json)


@adding.command()
def telegram(  # noqa: PLR0913 - every option of the command
    token_env: Variable = None,
    token_stdin: Annotated[bool, typer.Option("--token-stdin", help="The bot's token is the first line of stdin.")] = False,
    by: Annotated[Literal["polling", "webhook"] | None, typer.Option(help="Fetch updates, or have them posted to public_url.")] = None,
    api: Annotated[Text, typer.Option(metavar="URL", help="Of a Bot API server of your own.", show_default=False)] = None,
    no_test: NoTest = False,
    pair: Pair = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """A bot of your own in Telegram. Its token comes from @BotFather (/newbot)."""
    from daimon.cli import channel_add

    given = channel_add.Given({"token": token_env}, ("token",) if token_stdin else ())
    channel_add.add(home, channel_add.Wish("telegram", channel_add.said(by=by, api=api), given, not no_test, pair), as_json)


@adding.command()
def slack(  # noqa: PLR0913 - every option of the command
    bot_token_env: Variable = None,
    app_token_env: Variable = None,
    tokens_stdin: Annotated[
        bool, typer.Option("--tokens-stdin", help="The bot token (xoxb-) is the first line of stdin, the app token (xapp-) the second.")
    ] = False,
    api: Annotated[Text, typer.Option(metavar="URL", help="Only for tests.", show_default=False, hidden=True)] = None,
    no_test: NoTest = False,
    pair: Pair = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """An app of your workspace in Slack. docs/channels-slack.md says how to make one."""
    from daimon.cli import channel_add

    variables = {"bot_token": bot_token_env, "app_token": app_token_env}
    given = channel_add.Given(variables, ("bot_token", "app_token") if tokens_stdin else ())
    channel_add.add(home, channel_add.Wish("slack", channel_add.said(api=api), given, not no_test, pair), as_json)


@adding.command()
def mail(  # noqa: PLR0913 - every option of the command
    address: Annotated[Text, typer.Option(help="The agent's own; not yours.", show_default=False)] = None,
    imap: Annotated[Text, typer.Option(metavar="HOST[:PORT]", help="Where its mail comes in.", show_default=False)] = None,
    smtp: Annotated[Text, typer.Option(metavar="HOST[:PORT]", help="Where its mail goes out.", show_default=False)] = None,
    user: Annotated[Text, typer.Option(help="To log in with; left out, the address.", show_default=False)] = None,
    security: Annotated[Literal["tls", "starttls", "none"] | None, typer.Option(help="tls, if left out.", show_default=False)] = None,
    inbox: Annotated[Text, typer.Option(metavar="FOLDER", help="INBOX, if left out.", show_default=False)] = None,
    sent: Annotated[Text, typer.Option(metavar="FOLDER", help="Left out: the one that the server calls so.", show_default=False)] = None,
    keeps_sent: Annotated[
        bool | None, typer.Option("--keeps-sent/--no-keeps-sent", help="The server keeps what it sends, as Gmail does.", show_default=False)
    ] = None,
    name: Annotated[Text, typer.Option(help="What stands beside the address.", show_default=False)] = None,
    authserv_id: Annotated[Text, typer.Option(metavar="NAME", help="Who is believed about senders.", show_default=False)] = None,
    password_env: Variable = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="The password is the first line of stdin.")] = False,
    no_test: NoTest = False,
    pair: Pair = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """A mailbox of the agent's own: IMAP in, SMTP out."""
    from daimon.cli import channel_add

    fields = channel_add.said(
        address=address, imap=imap, smtp=smtp, user=user, security=security, inbox=inbox, sent=sent, keeps_sent=keeps_sent, name=name,
        authserv_id=authserv_id,
    )  # fmt: skip
    given = channel_add.Given({"password": password_env}, ("password",) if password_stdin else ())
    channel_add.add(home, channel_add.Wish("mail", fields, given, not no_test, pair), as_json)


@adding.command()
def matrix(  # noqa: PLR0913 - every option of the command
    homeserver: Annotated[Text, typer.Option(metavar="URL", help="Such as https://matrix.org.", show_default=False)] = None,
    user: Annotated[Text, typer.Option(help="The agent's own account, such as @agent:matrix.org.", show_default=False)] = None,
    token_env: Variable = None,
    token_stdin: Annotated[bool, typer.Option("--token-stdin", help="The access token is the first line of stdin.")] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="The account's password is the first line of stdin; it is not kept.")
    ] = False,
    no_test: NoTest = False,
    pair: Pair = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """An account of the agent's own on a Matrix homeserver."""
    from daimon.cli import channel_add

    given = channel_add.Given({"token": token_env}, ("token",) if token_stdin else (), logs_in=password_stdin)
    fields = channel_add.said(homeserver=homeserver, user=user)
    channel_add.add(home, channel_add.Wish("matrix", fields, given, not no_test, pair), as_json)


@app.command()
def test(name: Name, home: Home = None, as_json: Json = False) -> None:  # noqa: PT028 - not a test, a command
    """Ask the service live whether it lets the agent in, and as whom."""
    from daimon.cli import channel_change

    channel_change.test(home, name, as_json)


@app.command()
def poke(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Have the running gateway try a channel again now, instead of at its next try."""
    from daimon.cli import channel_change

    channel_change.poke(home, name, as_json)


@app.command()
def remove(
    name: Name,
    secret: Annotated[
        bool | None, typer.Option("--with-secret/--keep-secret", help="Its secret goes too, if nothing else uses it.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take a channel out."""
    from daimon.cli import channel_change

    channel_change.remove(home, name, secret, as_json)
