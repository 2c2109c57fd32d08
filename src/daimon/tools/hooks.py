"""make_webhook: a way in for a service, made by an agent with its owner's leave.

The hook takes effect with the recorded outcome, so a call that is run again makes the same one. Its secret is made by the system and is
never before a model: the owner reads it with a command and enters it at the service.
"""

import re
from typing import Annotated, Literal

from pydantic import Field

from daimon.abi.errors import ToolFailed
from daimon.abi.hook import NAME, NEXT, RESERVED, Filter, Hook, MakeHook, Scheme, secret_of
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_Name = Annotated[str, Field(min_length=1, max_length=50)]
_Task = Annotated[str, Field(min_length=1, max_length=2_000)]
_Place = Annotated[str, Field(max_length=200)]
_Values = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)]


def hook_tools() -> tuple[Tool, ...]:
    @tool(effect=Effect.IDEMPOTENT, capabilities={Capability.GRANTS}, result=ResultLabel(Author.SERVICE, "hooks"), is_rare=True)
    async def make_webhook(  # noqa: PLR0913 - every property of a hook that is not the owner's alone
        call: Call,
        name: Annotated[_Name, ArgumentRole.TITLE, "Small letters, digits, -; part of its address."],
        scheme: Annotated[Scheme, ArgumentRole.PERMISSION, "How the service signs; generic for any that lets you choose."],
        task: Annotated[_Task, ArgumentRole.CONTENT, "What is to be done with each delivery, complete in itself."],
        mode: Annotated[Literal["wake", "collect"], ArgumentRole.CONTENT, "A turn for each, or keep them for an automation."] = "wake",
        only_at: Annotated[_Place, ArgumentRole.QUERY, "JSON pointer or header:NAME that decides, such as /action."] = "",
        only_if: Annotated[_Values | None, ArgumentRole.QUERY, "The values there that count."] = None,
    ) -> Result:
        """Open an address where a service may post what happens there. The owner enters its secret at the service."""
        if name in RESERVED or name.endswith(NEXT) or not re.fullmatch(NAME, name):
            use = "use small letters, digits and '-', none that is a channel's, and no -next at its end"
            raise ToolFailed("bad_name", f"{name!r} cannot be the name of a hook; {use}")
        if bool(only_at) != bool(only_if) or (only_at and not only_at.startswith(("/", "header:"))):
            raise ToolFailed("bad_filter", "give both only_at, such as /action or header:X-GitHub-Event, and only_if, or neither")
        filters = (Filter(only_at, tuple(only_if)),) if only_if else ()
        hook = Hook(name=name, scheme=scheme, secret=secret_of(name), mode=mode, task=task, filters=filters, to=call.reply_to)
        how = f"The owner runs `daimon hooks show {name} --secret` for the address and the secret, and enters both at the service."
        return Result({"hook": name, "path": f"/hooks/{name}", "next": how}, operations=(MakeHook(hook),))

    return (make_webhook,)
