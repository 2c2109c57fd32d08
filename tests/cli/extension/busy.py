"""A model that runs whatever it is told to, once, in its box."""

from daimon.abi.message import Role
from daimon.abi.model import Reply, Request
from daimon.extension import Kit
from daimon.testing.model import ScriptedModel, calls, says


def obey(request: Request) -> Reply:
    last = request.messages[-1]
    return says("Done.") if last.role is Role.TOOL else calls(("run", {"command": last.text}))


def extend(kit: Kit) -> None:
    kit.models["busy"] = ScriptedModel([obey] * 100)
