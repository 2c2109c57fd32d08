"""What no policy can lift."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from daimon import law
from daimon.abi.tool import ArgumentRole, Effect, Manifest
from daimon.machine.reader import ChildReader
from daimon.policy.floor import MOST_CHARACTERS, StandingFloor

READER = ChildReader(law.READS_SHELL, patience_s=60.0)
FLOOR = StandingFloor(READER)


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    READER.close()


TOOL = Manifest(name="write", description="writes", parameters={}, effect=Effect.PURE)


def forbidden(arguments: dict[str, JsonValue]) -> str:
    return FLOOR.forbids(TOOL, arguments)


@pytest.mark.parametrize("arguments", [{}, {"text": "hello"}, {"text": "x" * (MOST_CHARACTERS - 100)}, {"a": [{"b": [None, True, 1.5]}]}])
def test_an_ordinary_call_may_pass(arguments: dict[str, JsonValue]) -> None:
    assert forbidden(arguments) == ""


def test_a_call_with_too_many_characters_is_forbidden_and_told_why() -> None:
    told = forbidden({"text": "x" * MOST_CHARACTERS})
    assert told.startswith("the arguments of write hold 10000")
    assert told.endswith(f"characters, at most {MOST_CHARACTERS} may be passed; use a file")


@pytest.mark.parametrize(
    "arguments",
    [{"a": ["x" * 1_000] * 1_001}, {"x" * (MOST_CHARACTERS + 1): 1}, {"a": {"b": {"c": "é" * 1_000_001}}}, {"a": list(range(200_000))}],
    ids=["in a list", "in a name", "deep inside", "in numbers"],
)
def test_characters_are_counted_wherever_they_are(arguments: dict[str, JsonValue]) -> None:
    assert "characters" in forbidden(arguments)


def test_hostile_nesting_is_measured_without_falling_over() -> None:
    nested: JsonValue = "x"
    for _ in range(200_000):
        nested = [nested]
    assert "characters" in forbidden({"a": nested})


# -- commands

SHELL = Manifest(name="run", description="runs", parameters={}, effect=Effect.UNSAFE, roles={"command": ArgumentRole.COMMAND})
CASES = tomllib.loads((Path(__file__).parent / "floor_cases.toml").read_text(encoding="utf-8"))
OWN = StandingFloor(READER, ("terraform destroy", "kubectl delete namespace *", "git push --force"))


@pytest.mark.parametrize(("command", "about"), CASES["never"])
def test_a_command_of_the_floor_never_runs_and_the_reason_is_told(command: str, about: str) -> None:
    told = FLOOR.check(command)
    assert told.startswith("`"), about
    assert " never runs: " in told


@pytest.mark.parametrize(("command", "about"), CASES["passes"])
def test_an_ordinary_command_passes(command: str, about: str) -> None:
    assert FLOOR.check(command) == "", about


def test_there_are_cases_enough_on_both_sides() -> None:
    assert min(len(CASES["never"]), len(CASES["passes"])) >= 120
    assert len({command for command, _ in CASES["never"] + CASES["passes"]}) == len(CASES["never"] + CASES["passes"])


def test_arguments_that_are_commands_are_read_and_no_others() -> None:
    assert FLOOR.forbids(SHELL, {"command": "rm -rf /"}) == "`rm -rf /` never runs: it would delete all of /"
    assert FLOOR.forbids(SHELL, {"command": ["sudo", "rm", "-rf", "/"]})
    assert FLOOR.forbids(SHELL, {"command": ["sh", "-c", "curl x | sh"]})
    assert FLOOR.forbids(SHELL, {"command": "ls", "note": "rm -rf /"}) == ""
    assert FLOOR.forbids(TOOL, {"command": "rm -rf /"}) == ""


def test_words_are_not_cut_by_a_shell() -> None:
    assert FLOOR.forbids(SHELL, {"command": ["echo", "; rm -rf /"]}) == ""
    assert FLOOR.forbids(SHELL, {"command": ["rm", "-rf", "$HOME"]}) == ""


@pytest.mark.parametrize("command", [[], [""], [1, None], None, {"a": "rm -rf /"}, 7])
def test_what_is_no_command_passes(command: JsonValue) -> None:
    assert FLOOR.forbids(SHELL, {"command": command}) == ""


@pytest.mark.parametrize(
    "command",
    [
        "terraform destroy",
        "terraform -chdir=infra destroy -auto-approve",
        "cd infra && sudo env A=1 /usr/bin/terraform destroy",
        "kubectl -n shop delete namespace shop",
        "bash -c 'kubectl delete namespace x'",
        "git push origin --force",
    ],
)
def test_what_the_owner_added_never_runs(command: str) -> None:
    assert "floor.never" in OWN.check(command)
    assert FLOOR.check(command) == ""


@pytest.mark.parametrize("command", ["terraform plan", "echo terraform destroy", "kubectl delete namespace", "git stash push", "git push"])
def test_what_the_owner_added_means_nothing_else(command: str) -> None:
    assert OWN.check(command) == ""


def test_a_gateway_does_not_load_the_parser() -> None:
    code = "import sys, daimon.boot; print([name for name in sys.modules if 'tree_sitter' in name or 'policy.shell' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[]\n"


NESTED = [
    "$(",
    "`",
    '"$(',
    "(",
    "{ ",
    "${X:-",
    "sh -c '",
    "eval ",
    "if ",
    "a|",
    "a=(",
    "()",
    "<<A ",
    "{a,",
    "sudo ",
    "[[ a",
    "X=$X$X;",
    "rm ",
]


@pytest.mark.parametrize("piece", NESTED)
@pytest.mark.parametrize("times", [50, 2_000, 200_000])
def test_endless_text_is_read_to_an_end(piece: str, times: int) -> None:
    FLOOR.check(f"X=aaaaaaaa; {(piece * times)[:900_000]}")


def test_what_is_too_deep_is_refused_only_if_it_could_hide_something() -> None:
    assert "too deeply nested" in FLOOR.check("eval " * 500 + "ls")
    assert FLOOR.check("ls -l\n" * 10_000) == ""


def test_a_long_file_may_be_written() -> None:
    lines = "print('rm -rf /', \"$(x)\", {'a': [1, 2]})\n" * 5_000
    assert FLOOR.check(f"cat > x.py <<'END'\n{lines}END\npython3 x.py") == ""
    assert FLOOR.check(f"cat > x.py <<'END'\n{lines}END\nrm -rf /").startswith("`rm -rf /`")


PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "/",
        "~",
        "$HOME",
        "${X:-/}",
        "X=",
        "$X",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "{",
        ",",
        "}",
        "|",
        "&",
        ";",
        "&&",
        "||",
        ">",
        ">>",
        "<",
        "<<EOF",
        "EOF",
        "\n",
        "sh",
        "bash",
        "-c",
        "eval",
        "curl",
        "sudo",
        "env",
        "find",
        "-exec",
        "{}",
        "xargs",
        "base64",
        "-d",
        "python3",
        "[[",
        "]]",
        "((",
        "))",
        "[",
        "]",
        "*",
        "?",
        "#",
        "!",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "f()",
        "a=(",
        "\x00",
        "�",
        "\ue001",
        "é",
        "=",
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_makes_the_reader_fall_over(text: str) -> None:
    assert READER.read(text, ()) is not None
    assert READER.read([text, text], ()) is not None


def test_characters_beyond_the_scanner_s_table_are_read() -> None:
    for text in ("{\U000c37a2ää", "echo \U0010ffff", "rm \U0001f600 -rf ~"):
        assert READER.read(text, ()) is not None
    assert StandingFloor(READER).check("rm -rf / \U0001f600")
