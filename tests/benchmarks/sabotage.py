"""An extension that breaks a promise on purpose, so that the laboratory has something to find. LAB_SABOTAGE says which.

repeat       a tool lies about its class: it says that its effect may be run again, and it may not
deaf         a channel says that it has delivered, and has not
unteachable  a router takes no notice of a provider that fails
restless     a prompt tells the time in its first words
generous     a reservation is a tenth of what a call may cost
"""

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from daimon.abi.context import Prompt
from daimon.abi.message import Text
from daimon.abi.money import Amount, exact
from daimon.abi.ports import Outgoing
from daimon.abi.tool import Effect
from daimon.context.assemble import Pager
from daimon.extension import Kit
from daimon.kernel import thinking
from daimon.models.router import ListRouter


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


class Deaf:
    name = "world"
    may_repeat = True

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        return "confirmed"


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
        return Prompt(replace(prompt.request, messages=(told, *others)), prompt.chunks)

    return dated
