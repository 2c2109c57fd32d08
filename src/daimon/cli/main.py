"""The program: global options, the table of commands, and the one place where a failure becomes an exit code."""

import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from daimon import __version__
from daimon.cli import (
    automations,
    calendar,
    channel,
    commands,
    dev,
    devices,
    exits,
    failures,
    floor,
    grants,
    hooks,
    manual,
    memory,
    model,
    options,
    people,
    policy,
    sandbox,
    secrets,
    servers,
    service,
    serving,
    skills,
    workspace,
)

app = typer.Typer(
    name="daimon",
    help="An operating system for personal agents. `daimon up` starts it; `daimon open` or `daimon chat`, in another terminal, talk to it.",
    epilog=exits.as_help(),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in commands.ALL:
    app.command(command.__name__.rstrip("_"))(command)
for passing_on in commands.PASSING_ON:
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(passing_on)
app.add_typer(dev.app, name="dev")
app.add_typer(model.app, name="model")
app.add_typer(policy.app, name="policy")
app.add_typer(grants.app, name="grants")
app.add_typer(channel.app, name="channel")
app.add_typer(calendar.app, name="calendar")
app.add_typer(people.app, name="people")
app.add_typer(devices.app, name="devices")
serving.join(servers.app)
app.add_typer(hooks.app, name="hooks")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(workspace.app, name="workspace")
app.add_typer(memory.app, name="memory")
app.add_typer(secrets.app, name="secrets")
app.add_typer(service.app, name="service")
app.add_typer(floor.app, name="floor")
app.add_typer(servers.app, name="mcp")
app.add_typer(automations.app, name="automations")
app.add_typer(skills.app, name="skills")


def _version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def everywhere(
    home: options.Home = None,
    as_json: options.Json = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")] = False,
) -> None:
    options.hand_down(home, as_json)
    if debug:
        os.environ[options.DEBUG_VARIABLE] = "1"


def main() -> None:
    code: int | str | None = exits.OK
    try:
        manual.bound(app)(prog_name="daimon")
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - the last place that can turn it into a sentence
        code = failures.tell(error)
    with suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.exit(code)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads any more; Python flushes once again at its end
    sys.exit(code or exits.FAILED)
