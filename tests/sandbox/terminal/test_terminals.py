"""Several terminals of one box: what one of them does while all are gone through. In real boxes."""

import asyncio
from pathlib import Path

from tests.sandbox.boxes import needs_bwrap
from tests.sandbox.terminal.shells import DEADLINE_S, until

from daimon.abi.box import Attempt
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.terminal import Line
from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.kept import Kept
from daimon.sandbox.terminal.terminals import ShellTerminals

pytestmark = needs_bwrap


class Watchman:
    def admit(self, label: Label) -> None:
        return

    def attempts(self) -> tuple[Attempt, ...]:
        return ()


def _terminals(box: RunningBox, place: Path) -> ShellTerminals:
    return ShellTerminals(box, "self", Kept(place / "outputs"), Watchman(), {})


def _line(terminal: str, command: str) -> Line:
    return Line(terminal=terminal, command=command, timeout_s=60.0, label=UNLABELLED, task="t1")


async def _begun(terminals: ShellTerminals, terminal: str, command: str, sign: Path) -> str:
    """In the background; returns when it runs."""
    output = await terminals.begin(_line(terminal, f"touch {sign.name}; {command}"), lambda _: None)

    async def is_there() -> bool:
        return sign.exists()  # noqa: ASYNC240 - a look

    await until(is_there)
    return output


async def test_closing_ends_all_of_them_though_a_shell_goes_with_its_command(box: RunningBox, tmp_path: Path) -> None:
    terminals = _terminals(box, tmp_path)
    for name in ("one", "two"):
        await _begun(terminals, name, "exec sleep 1000", Path(box.workspace) / name)
    async with asyncio.timeout(DEADLINE_S):
        await terminals.close()
    assert terminals.is_idle
    assert await terminals.jobs() == ((), ())


async def test_the_others_are_asked_while_one_ends(box: RunningBox, tmp_path: Path) -> None:
    terminals = _terminals(box, tmp_path)
    for name in ("three", "four"):
        await terminals.run(_line(name, "true"), lambda _: None)
    await _begun(terminals, "five", "read -r; exit 3", Path(box.workspace) / "five")

    async def asked() -> None:
        while not terminals.is_idle:
            await terminals.jobs()
            await terminals.state()

    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(asked(), asked(), asked(), terminals.send("five", "\n", 0.0, UNLABELLED))
        await terminals.close()
