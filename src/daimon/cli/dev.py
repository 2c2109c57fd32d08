"""`daimon dev`: tools for those who build on Daimon."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Tools for those who build on Daimon.", no_args_is_help=True)


@app.callback()
def everywhere() -> None:
    """Keeps `provider` a command of its own while it is the only one."""


@app.command()
def provider(
    script: Annotated[Path | None, typer.Option(metavar="FILE", help="What to answer. Left out: it echoes.", dir_okay=False)] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0 takes any.")] = 0,
) -> None:
    """Run a language-model server on loopback that answers by a script, with faults on command.

    It speaks the HTTP APIs of OpenAI, Anthropic, Google and Ollama; the key is `test-key`. One line is printed for each request.
    """
    from daimon.cli import screen
    from daimon.offline.provider import provider as serve

    with suppress(KeyboardInterrupt):
        asyncio.run(serve(script, port, screen.say))
