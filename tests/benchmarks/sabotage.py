"""An extension that breaks a promise on purpose, so that the laboratory has something to find. LAB_SABOTAGE says which.

repeat   a tool lies about its class: it says that its effect may be run again, and it may not
deaf     a channel says that it has delivered, and has not
"""

import os
from dataclasses import replace
from typing import Literal

from daimon.abi.ports import Outgoing
from daimon.abi.tool import Effect
from daimon.extension import Kit


def extend(kit: Kit) -> None:
    match os.environ["LAB_SABOTAGE"]:
        case "repeat":
            for tool in kit.tools:
                if tool.manifest.name == "unsafe_effect":
                    tool.manifest = replace(tool.manifest, effect=Effect.IDEMPOTENT)  # type: ignore[misc]
        case "deaf":
            kit.channels[:] = [Deaf()]


class Deaf:
    name = "world"
    may_repeat = True

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        return "confirmed"
