"""`daimon service …`: its commands with their arguments. What they do stands in `service_install.py`, `service_state.py` and
`service_user.py`."""

from typing import Annotated

import typer

from daimon.cli import options
from daimon.cli.options import Json

app = typer.Typer(help="Running it always, by systemd.", no_args_is_help=True, rich_markup_mode="rich")
Unit = Annotated[str, typer.Option("--unit", metavar="NAME", help="What the unit is called; another one for a second home.")]
Agreed = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def install(  # noqa: PLR0913 - every option of the command
    home: options.Home = None,
    runs_as: Annotated[str, typer.Option("--as", metavar="USER", help="For root: whom it runs as; made if missing.")] = "daimon",
    unit: Unit = "daimon",
    is_agreed: Agreed = False,
    is_started: Annotated[bool, typer.Option("--start", help="Start it too.")] = False,
    is_lingering: Annotated[bool, typer.Option("--linger", help="Let it run without a login.")] = False,
    is_printed: Annotated[bool, typer.Option("--print", help="Print the unit, change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Write the systemd unit, and have it started with the machine. For root a unit of the machine, otherwise one of your own."""
    from daimon.cli import service_install

    wanted = service_install.Wanted(home, runs_as, unit, is_agreed, is_started, is_lingering)
    (service_install.show if is_printed else service_install.install)(wanted, as_json)


@app.command()
def start(unit: Unit = "daimon", as_json: Json = False) -> None:
    """Start it, and wait until it is ready."""
    from daimon.cli import service_state

    service_state.begin(unit, "start", as_json)


@app.command()
def stop(unit: Unit = "daimon", as_json: Json = False) -> None:
    """Let it rest and end; it starts again with the machine."""
    from daimon.cli import service_state

    service_state.stop(unit, as_json)


@app.command()
def restart(unit: Unit = "daimon", as_json: Json = False) -> None:
    """Stop it and start it, as after an update."""
    from daimon.cli import service_state

    service_state.begin(unit, "restart", as_json)


@app.command()
def status(unit: Unit = "daimon", as_json: Json = False) -> None:
    """How the unit is, how the gateway is, and how it last ended."""
    from daimon.cli import service_state

    service_state.status(unit, as_json)


@app.command()
def logs(
    is_followed: Annotated[bool, typer.Option("-f", "--follow", help="Go on as lines come.")] = False,
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, metavar="N", help="How many of the last.")] = 100,
    since: Annotated[str, typer.Option("--since", metavar="WHEN", help="Such as `today` or `2 hours ago`.")] = "",
    unit: Unit = "daimon",
    as_json: Json = False,
) -> None:
    """What it printed: the journal of systemd, for this unit."""
    from daimon.cli import service_state

    service_state.logs(unit, service_state.Wanted(lines, since, is_followed), as_json)


@app.command()
def uninstall(unit: Unit = "daimon", as_json: Json = False) -> None:
    """Stop it and remove the unit. The home and the user stay."""
    from daimon.cli import service_install

    service_install.uninstall(unit, as_json)


@app.command()
def user(
    name: Annotated[str, typer.Option(metavar="NAME", help="What it is called.")] = "daimon",
    is_agreed: Agreed = False,
    as_json: Json = False,
) -> None:
    """Make a system user for the gateway: no password, no shell, a home of its own. Needs root."""
    from daimon.cli import service_user

    service_user.make(name, is_agreed, as_json)
