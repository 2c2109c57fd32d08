"""What `--help` shows, of every command there is."""

import shlex
from collections.abc import Iterator
from typing import Any

import typer

from daimon.cli import manual
from daimon.cli.main import app


def every(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from every(below, *path, name)


def test_every_command_stands_under_one_heading() -> None:
    root = manual.bound(app)
    listed = [name for names in manual.HEADINGS.values() for name in names]
    assert list(root.commands) == listed
    assert len(set(listed)) == len(listed)


def test_a_switch_is_shown_without_a_value_and_an_option_with_its_own() -> None:
    shown = {
        (*path, option.opts[0]): option.display_type_rich(typer.Context(command))
        for path, command in every(manual.bound(app))
        for option in command.get_params(typer.Context(command))
        if option.param_type_name == "option"
    }
    assert "<bool>" not in shown.values()
    assert (shown["up", "--json"], shown["up", "--help"], shown["up", "--home"]) == ("", "", "DIR")


def test_every_example_is_understood_by_its_command() -> None:
    root = manual.bound(app)
    for path, examples in manual.EXAMPLES.items():
        for example in examples:
            words = shlex.split(example.partition(" < ")[0])
            assert words[: len(path.split())] == path.split(), example
            manual.found(root, path).make_context(path, words[len(path.split()) :])


def test_a_group_that_has_a_list_shows_it_when_it_is_called_alone() -> None:
    groups = {path: command for path, command in every(manual.bound(app)) if "list" in getattr(command, "commands", {})}
    assert len(groups) >= 12
    assert [path for path, group in groups.items() if not group.invoke_without_command or group.no_args_is_help] == []


def test_every_command_says_what_it_does() -> None:
    assert not [path for path, command in every(manual.bound(app)) if not (command.help or "").strip()]
