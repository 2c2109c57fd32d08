"""`daimon model …`: its commands with their arguments. What they do stands in the modules that they import, as in `commands.py`."""

from typing import Annotated

import typer

from daimon.cli.options import Home, Json, hand_down

app = typer.Typer(rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(metavar="NAME", help="As you call it; `daimon model list` shows all.", show_default=False)]
Price = Annotated[
    tuple[str, str] | None, typer.Option("--price", metavar="IN OUT", help="Dollars a million tokens, in and out.", show_default=False)
]
Free = Annotated[bool, typer.Option("--free", help="It costs nothing: your own hardware.")]
Text = str | None


@app.callback(invoke_without_command=True)
def model(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Set up language models: add, list, test, use, price, remove. Alone it lists them."""
    if context.invoked_subcommand is None:
        from daimon.cli import model_list

        model_list.own(home, as_json)
    else:
        hand_down(home, as_json)


@app.command()
def add(  # noqa: PLR0913 - every option of the command
    name: Annotated[Text, typer.Argument(metavar="NAME", help="As you want to call it; left out, made from the model's.")] = None,
    vendor: Annotated[Text, typer.Option(help="anthropic, openai, google, deepseek, openrouter, ollama, …", show_default=False)] = None,
    model: Annotated[Text, typer.Option(help="As the vendor calls it.", show_default=False)] = None,
    base_url: Annotated[Text, typer.Option(metavar="URL", help="Where it is, if not at the vendor's own address.")] = None,
    key: Annotated[Text, typer.Option(help="The key. It stays in your shell's history; better is --key-stdin.", show_default=False)] = None,
    key_env: Annotated[Text, typer.Option(metavar="VAR", help="The environment variable that holds the key.", show_default=False)] = None,
    key_stdin: Annotated[bool, typer.Option("--key-stdin", help="The key is the first line of stdin.")] = False,
    price: Price = None,
    free: Free = False,
    unknown_price: Annotated[bool, typer.Option("--unknown-price", help="Nobody knows; with a money limit you are asked.")] = False,
    first: Annotated[bool, typer.Option("--first", help="Ask it before all others, even before reflex.")] = False,
    last: Annotated[bool, typer.Option("--last", help="Ask it when all others failed.")] = False,
    no_use: Annotated[bool, typer.Option("--no-use", help="Only set it up.")] = False,
    no_test: Annotated[bool, typer.Option("--no-test", help="Do not make the one small call that shows that it works.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Set up a model. What is left out is asked for, if you sit at a terminal."""
    from daimon.cli import model_add
    from daimon.steward.model_adding import Flags

    flags = Flags(
        name=name,
        vendor=vendor,
        model=model,
        base_url=base_url,
        key=model_add.one_key(key, key_env, key_stdin),
        price=model_add.one_price(price, is_free=free, is_unknown=unknown_price),
        place=model_add.one_place(is_first=first, is_last=last, is_unused=no_use),
        is_tested=not no_test,
    )
    model_add.add(home, flags, as_json)


@app.command("list")
def list_(
    at: Annotated[Text, typer.Option("--at", metavar="VENDOR|NAME", help="What this provider has, asked live.", show_default=False)] = None,
    base_url: Annotated[Text, typer.Option(metavar="URL", help="With --at VENDOR: where it is, if not at the vendor's own.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show the models that are set up, in the order of their use."""
    from daimon.cli import model_list

    if at is None and base_url is None:
        model_list.own(home, as_json)
    else:
        model_list.provided(home, at or "compatible", base_url, as_json)


@app.command()
def test(name: Name, home: Home = None, as_json: Json = False) -> None:  # noqa: PT028 - not a test, a command
    """Make one small call to a model and say what came."""
    from daimon.cli import model_change

    model_change.test(home, name, as_json)


@app.command()
def use(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The first that can answers; the others stand in for it.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say which models answer, in this order."""
    from daimon.cli import model_change

    model_change.use(home, names, as_json)


@app.command()
def price(  # noqa: PLR0913 - every option of the command
    name: Name,
    given_in: Annotated[Text, typer.Argument(metavar="IN", help="Dollars a million tokens in.", show_default=False)] = None,
    given_out: Annotated[Text, typer.Argument(metavar="OUT", help="Dollars a million tokens out.", show_default=False)] = None,
    cache_read: Annotated[Text, typer.Option(metavar="X", help="Of the provider's cache; left out, as IN.", show_default=False)] = None,
    cache_write: Annotated[
        Text, typer.Option(metavar="Y", help="Into the cache; left out, as IN, at Anthropic a quarter more.", show_default=False)
    ] = None,
    free: Free = False,
    unknown: Annotated[bool, typer.Option("--unknown", help="Nobody knows; with a money limit you are asked.")] = False,
    library: Annotated[bool, typer.Option("--library", help="As the price list says that comes with Daimon.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say what a model costs."""
    from daimon.cli import model_change

    words = [word for word, is_said in (("free", free), ("unknown", unknown), ("library", library)) if is_said]
    numbers = [number for number in (given_in, given_out) if number is not None]
    model_change.price(home, name, model_change.one_price(words, numbers, cache_read, cache_write), as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Take a model out, and its key if no other model uses that."""
    from daimon.cli import model_change

    model_change.remove(home, name, as_json)
