"""Options that many commands share.

`--home` and `--json` may stand before or after the command. Before it they are handed down as environment variables, which the options
after it read.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

HOME_VARIABLE = "DAIMON_HOME"
JSON_VARIABLE = "DAIMON_JSON"
DEBUG_VARIABLE = "DAIMON_DEBUG"

Home = Annotated[
    Path | None,
    typer.Option("--home", metavar="DIR", envvar=HOME_VARIABLE, show_default=False, help="Where all state lives; ~/.daimon if left out."),
]
Json = Annotated[bool, typer.Option("--json", envvar=JSON_VARIABLE, show_envvar=False, help="Print JSON.")]
Turn = Annotated[str, typer.Argument(metavar="TURN", help="A turn's id, a beginning of one, or `last`.", show_default=False)]
Conversation = Annotated[str | None, typer.Option("--conversation", metavar="NAME", help="Only this conversation.", show_default=False)]


def hand_down(home: Path | None, as_json: bool) -> None:
    """What stands before a command holds for it."""
    if home is not None:
        os.environ[HOME_VARIABLE] = str(home)
    if as_json:
        os.environ[JSON_VARIABLE] = "1"
