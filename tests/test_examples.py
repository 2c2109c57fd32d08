"""Every program in examples/ is run as its own text says, against a real home and a real gateway."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daimon.abi.channel import Receipt
from daimon.abi.event import Address, Said
from daimon.abi.ids import HOME_SPACE, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.gateway.client import Client
from daimon.kernel.feed import Spoken

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
LONGEST_LINES = 80
DEADLINE_S = 120


@dataclass(frozen=True, slots=True)
class Gateway:
    url: str
    client: Client

    def answered(self, text: str, **more: object) -> str:
        """Says something and waits until the answer has reached its channel."""
        with self.client.feed() as feed:
            self.client.send(json.dumps({"type": "message", "text": text, **more}).encode())
            said = next(update.said for update in feed if isinstance(update, Spoken))
        return "".join(part.text for part in said.parts if isinstance(part, Text))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return home


def run(*command: object, **variables: object) -> str:
    """What a program prints. One that fails fails the test, with its words."""
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, env=environment(**variables), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(**variables: object) -> dict[str, str]:
    ours = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(EXAMPLES)])}
    return {**os.environ, **ours, **{name: str(value) for name, value in variables.items()}}


@contextmanager
def gateway(home: Path, **variables: object) -> Iterator[Gateway]:
    command = (sys.executable, "-m", "daimon", "up", "--home", str(home), "--port", "0", "--json")
    with subprocess.Popen(command, cwd=ROOT, env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            yield Gateway(json.loads(ready)["ready"], Client(home / "daimon.sock"))
        finally:
            process.terminate()
            process.communicate(timeout=DEADLINE_S)


def test_every_example_is_short_and_run_here() -> None:
    files = {file.name for file in EXAMPLES.iterdir() if file.is_file() and file.name != "README.md"}
    here = Path(__file__).read_text(encoding="utf-8")
    assert not {name for name in files if len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) >= LONGEST_LINES}
    assert not {name for name in files if f'"{name}"' not in here and f'"{Path(name).stem}"' not in here}


def test_a_tool_extension_is_used_by_a_scripted_agent() -> None:
    run(sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", EXAMPLES / "test_weather.py")


def test_a_daimon_starts_with_the_tool_and_the_channel(home: Path, tmp_path: Path) -> None:
    (home / "daimon.toml").write_text('extensions = ["weather", "logbook"]\n', encoding="utf-8")
    with gateway(home, LOGBOOK=tmp_path / "log") as daimon:
        said = daimon.answered("hello", reply_to={"channel": "logbook", "to": "garden"})
    line = json.loads((tmp_path / "log" / "garden.jsonl").read_text(encoding="utf-8"))
    assert line["text"] == said
    assert line["key"].endswith(":reply/0")


def test_the_logbook_writes_a_key_once_even_after_a_torn_line(tmp_path: Path) -> None:
    book = _module("logbook").Logbook(tmp_path)
    (tmp_path / "garden.jsonl").write_text('{"key": "t1:re', encoding="utf-8")
    (piece,) = book.pieces(_message("t1:reply"))
    for key in ("t1:reply/0", "t1:reply/0", "t2:reply/0"):
        assert asyncio.run(book.send(piece, "../garden", key)) == Receipt("confirmed")
    lines = (tmp_path / "garden.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["key"] for line in lines[1:]] == ["t1:reply/0", "t2:reply/0"]


def test_a_heartbeat_from_cron_counts_once_in_its_quarter(home: Path, tmp_path: Path) -> None:
    daimon = _program(tmp_path / "daimon", f'exec "{sys.executable}" -m daimon "$@"')
    _program(tmp_path / "date", "echo 1800000000")
    heard = [
        run("sh", EXAMPLES / "heartbeat.sh", DAIMON=daimon, DAIMON_HOME=home, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        for _ in range(2)
    ]
    assert heard[0].startswith("line 1: accepted ")
    assert heard[1].startswith("line 1: seen before ")


def test_a_program_asks_over_http(home: Path) -> None:
    with gateway(home) as daimon:
        assert "reflex" in run(sys.executable, EXAMPLES / "ask.py", daimon.url, home / "token", "who are you?")


def test_the_journal_is_read_while_a_gateway_runs_and_after_it(home: Path) -> None:
    with gateway(home) as daimon:
        daimon.answered("remember that the spare key is under the blue pot")
        during = run(sys.executable, EXAMPLES / "read_journal.py", home)
    assert during == run(sys.executable, EXAMPLES / "read_journal.py", home)
    assert "pure call remember(" in during


def _module(name: str):  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _message(key: str) -> Outgoing:
    return Outgoing(
        key=Key(key), conversation=Conversation(HOME_SPACE, "main"), to=Address("logbook", "../garden"), content=Said((Text("hi"),)),
        label=owned("test"), created_at=datetime(2026, 1, 31, tzinfo=UTC),
    )  # fmt: skip


def _program(path: Path, line: str) -> Path:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
    return path
