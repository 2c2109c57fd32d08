"""An extension that breaks a promise on purpose, so that the laboratory has something to find. LAB_SABOTAGE says which.

repeat       a tool lies about its class: it says that its effect may be run again, and it may not
deaf         a channel says that it has delivered, and has not
unteachable  a router takes no notice of a provider that fails
restless     a prompt tells the time in its first words
generous     a reservation is a tenth of what a call may cost
swallow      an edit of a file is told, and not made
twice        an edit of a file is made twice
astray       the checkpoint before a call is another one than the journal says
numb         a shell is told nothing of what is exported in it
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from daimon.abi.channel import Piece, Receipt
from daimon.abi.context import Prompt
from daimon.abi.files import Replacement, Written
from daimon.abi.message import Text
from daimon.abi.money import Amount, exact
from daimon.abi.terminal import Line
from daimon.abi.tool import Call, Effect
from daimon.context.assemble import Pager
from daimon.extension import Kit
from daimon.kernel import thinking
from daimon.models.router import ListRouter
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.terminal.terminals import ShellTerminals
from daimon.sites import Sites
from daimon.testing.channel import FakeChannel


def extend(kit: Kit) -> None:
    match os.environ["LAB_SABOTAGE"]:
        case "repeat":
            for tool in kit.tools:
                if tool.manifest.name == "unsafe_effect":
                    tool.manifest = replace(tool.manifest, effect=Effect.IDEMPOTENT)  # type: ignore[misc]
        case "deaf":
            kit.channels[:] = [Deaf()]
        case "unteachable":
            ListRouter.heard = lambda *_: None  # type: ignore[method-assign]
        case "restless":
            Pager.assemble = _restless(Pager.assemble)  # type: ignore[method-assign]
        case "generous":
            thinking.worst = _generous(thinking.worst)
        case of_files:
            _break_files(of_files)


def _break_files(sabotage: str) -> None:
    match sabotage:
        case "swallow":
            Driver.edit = _with_another(Driver.edit, lambda each: Replacement(each.new, each.old))  # type: ignore[method-assign]
        case "twice":
            Driver.edit = _with_another(Driver.edit, lambda each: each)  # type: ignore[method-assign]
        case "astray":
            Sites.before = _astray  # type: ignore[method-assign]
        case "numb":
            ShellTerminals.run = _numb(ShellTerminals.run)  # type: ignore[method-assign]


def _with_another(edit: Any, changed: Callable[[Replacement], Replacement]) -> Any:
    async def edited(self: Driver, path: str, replacements: Sequence[Replacement]) -> Written:
        done: Written = await edit(self, path, replacements)
        await edit(self, path, [changed(each) for each in replacements])
        return done

    return edited


async def _astray(self: Sites, call: Call, why: str) -> str:
    return "c999"


def _numb(run: Any) -> Any:
    async def ran(self: ShellTerminals, line: Line, *more: Any) -> Any:
        return await run(self, replace(line, command=line.command.replace("export ", ": ")), *more)

    return ran


class Deaf(FakeChannel):
    def __init__(self) -> None:
        super().__init__("world")

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        return Receipt("confirmed")


def _generous(worst: Any) -> Any:
    def cheap(*given: Any) -> Amount:
        amount: Amount = worst(*given)
        return replace(amount, cost=None if amount.cost is None else exact(amount.cost / 10))

    return cheap


def _restless(assemble: Any) -> Any:
    def dated(*given: Any) -> Prompt:
        prompt: Prompt = assemble(*given)
        system, *others = prompt.request.messages
        told = replace(system, parts=(Text(f"It is {datetime.now(UTC)}."), *system.parts))
        return replace(prompt, request=replace(prompt.request, messages=(told, *others)))

    return dated
