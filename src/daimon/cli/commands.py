"""Every command with its arguments: the whole interface on a few screens. What a command does stands in the module that it imports.

Only what parsing needs is imported at the top: start-up time is a feature.
"""

import gc
from pathlib import Path
from typing import Annotated

import typer

from daimon.cli.options import Conversation, Home, Json, Turn

Port = Annotated[int | None, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0 takes any.", show_default="gateway.port")]
Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="At most so many, newest first.")]
Step = Annotated[str, typer.Argument(metavar="TURN:STEP", help="The question, as `daimon questions` names it.", show_default=False)]


def up(
    home: Home = None,
    port: Port = None,
    user: Annotated[str | None, typer.Option("--as", metavar="USER", help="As root: become this user first.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """Run the gateway until SIGTERM or Ctrl-C."""
    gc.disable()  # nothing of a thousand modules becomes garbage while they are loaded, and to look for it takes a sixth of the start
    from daimon.cli import serve

    gc.freeze()
    gc.enable()
    serve.up(home, port, user, as_json)


def open_(
    home: Home = None,
    rights: Annotated[
        str, typer.Option(metavar="RIGHTS", help="What the browser may do: some of read,chat,approve,admin.")
    ] = "read,chat,approve,admin",
    name: Annotated[str, typer.Option(metavar="NAME", help="What the browser is called in `daimon devices`.", show_default=False)] = "",
    is_shown_only: Annotated[bool, typer.Option("--print", help="Print the link and open nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Open the control room in a browser, with a link that signs it in once."""
    from daimon.cli import opening

    opening.open_room(home, rights, name, is_shown_only or as_json, as_json)


def acts(home: Home = None, limit: Limit = 50, as_json: Json = False) -> None:
    """Show what was changed, by which device, and who signed in or tried to."""
    from daimon.cli import devised

    devised.acts(home, limit, as_json)


def chat(
    text: Annotated[list[str] | None, typer.Argument(help="One message. Left out: a chat, or one message per line of stdin.")] = None,
    home: Home = None,
    conversation: Annotated[str, typer.Option("--conversation", metavar="NAME", help="Which conversation to speak in.")] = "main",
    as_json: Json = False,
) -> None:
    """Talk to Daimon. Where no gateway runs, one is started for as long as this lasts."""
    from daimon.cli.chat import converse

    converse(home, " ".join(text) if text else None, conversation, as_json)


def inject(home: Home = None, as_json: Json = False) -> None:
    """Hand in events from stdin, one JSON object per line, as cron would.

    {"type": "message", "text": "hello"} or {"type": "heartbeat", "job": "read-feed"}. What cannot be used is reported with its line
    and kept (`daimon letters`).
    """
    from daimon.cli.inject import take_in

    take_in(home, as_json)


def status(home: Home = None, as_json: Json = False) -> None:
    """Show how it is: whether a gateway runs, and how much there is."""
    from daimon.cli import look

    look.status(home, as_json)


def turns(
    home: Home = None,
    limit: Limit = 20,
    conversation: Conversation = None,
    state: Annotated[str | None, typer.Option(help="queued, running, parked, done or failed.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List turns, newest first."""
    from daimon.cli import look

    look.turns(home, limit, conversation, state, as_json)


def trace(
    turn: Turn,
    home: Home = None,
    prompt: Annotated[
        int | None, typer.Option(metavar="N", help="Print the exact request of the model call at step N.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show all that a turn thought and did."""
    from daimon.cli import look

    if prompt is None:
        look.trace(home, turn, as_json)
    else:
        look.prompt(home, turn, prompt)


def context(
    turn: Turn,
    step: Annotated[int | None, typer.Argument(metavar="STEP", help="Which model call; else the last.", show_default=False)] = None,
    home: Home = None,
    why: Annotated[str, typer.Option("--why", metavar="WORDS", help="Only what holds these words, with where it comes from.")] = "",
    as_json: Json = False,
) -> None:
    """Show what the model saw at a step, and why each line was there."""
    from daimon.cli import context as shown

    shown.context(home, turn, step, why, as_json)


def stop(turn: Turn, home: Home = None, as_json: Json = False) -> None:
    """End a turn, and all that it started."""
    from daimon.cli import act

    act.stop(home, turn, as_json)


def questions(home: Home = None, as_json: Json = False) -> None:
    """List what people are being asked."""
    from daimon.cli import look

    look.questions(home, as_json)


def answer(
    to: Step,
    choice: Annotated[str, typer.Argument(help="One of the options; where there are none, the answer.", show_default=False)],
    text: Annotated[str, typer.Argument(help="A remark.", show_default=False)] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Answer a question that a turn waits for."""
    from daimon.cli import act

    act.answer(home, to, choice, text, as_json)


def agents(home: Home = None, as_json: Json = False) -> None:
    """Show the agents: their role, their tools, and what follows from them."""
    from daimon.cli import agents as shown

    shown.show(home, as_json)


def decisions(home: Home = None, limit: Limit = 20, as_json: Json = False) -> None:
    """List what people decided, with what they saw and what came of it."""
    from daimon.cli import decided

    decided.decisions(home, limit, as_json)


def reload(home: Home = None, as_json: Json = False) -> None:
    """Let the running gateway read policies, agents, models, routes and budget again."""
    from daimon.cli import act

    act.reload(home, as_json)


def outbox(
    home: Home = None,
    limit: Limit = 20,
    channel: Annotated[str, typer.Option(metavar="NAME", help="Only what went to this channel.")] = "",
    state: Annotated[str, typer.Option(help="queued, sending, sent, confirmed, unknown or failed.")] = "",
    as_json: Json = False,
) -> None:
    """List what went out to people, newest first, and what became of it."""
    from daimon.cli import outbox as shown

    shown.show(home, limit, channel, state, as_json)


def letters(home: Home = None, limit: Limit = 20, as_json: Json = False) -> None:
    """List dead letters: input that could not be used, with the reason."""
    from daimon.cli import look

    look.letters(home, limit, as_json)


def costs(
    home: Home = None,
    by: Annotated[str, typer.Option(metavar="WHAT", help="day, month, job, agent, model, conversation, turn (a task) or person.")] = "day",
    since: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="2026-11-01, `today`, `7d` or `month`.", show_default="30d; by month, 12 months"),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="2026-11-30 or `today`.", show_default="today")] = None,
    as_json: Json = False,
) -> None:
    """Show what models cost, and how much of the limits is left."""
    from daimon.cli import costs as shown

    shown.costs(home, by, since, until, as_json)


def config(
    home: Home = None,
    check: Annotated[bool, typer.Option("--check", help="Only say whether the settings are good.")] = False,
    path: Annotated[bool, typer.Option("--path", help="Only print where the file is.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting and where its value comes from."""
    from daimon.cli import settings

    if path:
        settings.path(home)
    elif check:
        settings.check(home, as_json)
    else:
        settings.show(home, as_json)


def test(context: typer.Context, as_json: Json = False) -> None:  # noqa: PT028 - not a test, the command that runs them
    """Check the checkout: ruff, mypy, import rules, then pytest, which gets all further arguments."""
    from daimon.cli import checkout

    checkout.test(context.args, as_json)


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Which one; left out, they are listed.", show_default=False)] = None,
) -> None:
    """Run a benchmark of the checkout; it gets all further arguments, such as --json and --quick."""
    from daimon.cli import checkout

    checkout.bench(name, context.args)


def undo(
    which: Annotated[str, typer.Argument(metavar="ID", help="Of this workspace; left out: of the agent's own.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Take the last change of an agent's files back, or the last apply. Again: the one before."""
    from daimon.cli import layered

    layered.undo(home, which, as_json)


def backup(
    to: Annotated[Path | None, typer.Option(metavar="DIR|FILE", help="Where to.", show_default="backup.to")] = None,
    without_workspaces: Annotated[bool, typer.Option("--without-workspaces", help="Leave out what agents work on.")] = False,
    without_key: Annotated[bool, typer.Option("--without-key", help="Leave out what opens the vault.")] = False,
    by_schedule: Annotated[bool, typer.Option("--auto", help="As the schedule does it.", hidden=True)] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Copy the whole home into one file, and verify it by restoring it. Also while a gateway runs."""
    from daimon.backup.inventory import Scope
    from daimon.cli import backup as made

    if by_schedule:
        made.by_schedule(home, as_json)
    else:
        made.make(home, to, Scope(not without_workspaces, not without_key), as_json)


def backups(
    directory: Annotated[Path | None, typer.Option("--in", metavar="DIR", help="Where they lie.", show_default="backup.to")] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Restore this one into a temporary place and compare.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """List the backups that there are, or verify one again."""
    from daimon.cli import backup as made

    if check is None:
        made.show(home, directory, as_json)
    else:
        made.check(home, check, as_json)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.", show_default=False)],
    replace: Annotated[bool, typer.Option("--replace", help="If the home holds data: move it aside.")] = False,
    is_agreed: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the home. What was there before is moved aside, never deleted."""
    from daimon.cli import backup as made

    made.restore(home, file, (replace, is_agreed), as_json)


def doctor(
    everything: Annotated[bool, typer.Option("--all", help="Read every payload and the whole newest backup, which takes longer.")] = False,
    rebuild_memory: Annotated[
        bool, typer.Option("--rebuild-memory", help="Move memory aside, so that the next start rebuilds it from the journal.")
    ] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Look whether all is well, and say in words what is not. Changes nothing."""
    from daimon.cli import doctor as shown

    if rebuild_memory:
        shown.rebuild_memory(home, as_json)
    else:
        shown.show(home, everything, as_json)


ALL = (
    *(
        up,
        open_,
        chat,
        inject,
        status,
        turns,
        trace,
        context,
        stop,
        questions,
        answer,
        decisions,
        acts,
        outbox,
        letters,
        costs,
        config,
        agents,
        reload,
        undo,
    ),
    *(backup, backups, restore, doctor),
)
PASSING_ON = (test, bench)
"""These hand on arguments that they do not know."""
