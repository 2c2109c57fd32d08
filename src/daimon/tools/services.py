"""Services: commands that are kept running in the box of the agent's session, and come back after a restart of Daimon."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.terminal import Service, Services, ServiceState
from daimon.abi.tool import ArgumentRole, Call, Effect, Result, Tool, Touched
from daimon.tools.schema import tool
from daimon.tools.shell import owner_of
from daimon.tools.terminal import BOX, OWN

_Name = Annotated[str, Field(max_length=32)]
_Line = Annotated[str, Field(max_length=20_000)]
_Directory = Annotated[str, Field(min_length=1, max_length=4_096)]
_Action = Literal["start", "stop", "list", "log"]
_Restart = Literal["always", "on-failure", "never"]
LOG = 16_384


def service_tools(services: Services) -> tuple[Tool, ...]:
    @tool(effect=Effect.IDEMPOTENT, capabilities=OWN, result=BOX, timeout_s=60.0, changes_files=True, is_rare=True)
    async def service(
        call: Call,
        action: Annotated[_Action, ArgumentRole.CONTENT, "What to do."],
        name: Annotated[_Name, ArgumentRole.TARGET, "Small letters, digits, -."] = "",
        command: Annotated[_Line, ArgumentRole.COMMAND, "To start."] = "",
        directory: Annotated[_Directory, ArgumentRole.TARGET, "Where to start it."] = ".",
        restart: Annotated[_Restart, ArgumentRole.CONTENT, "When it has ended."] = "on-failure",
    ) -> Result:
        """Keep a command running in your box, such as a server; it comes back after a crash or a restart of the machine."""
        owner = owner_of(call)
        if action == "list":
            return Result({"services": [_told(state) for state in services.list(owner)]})
        if not name:
            raise ToolFailed("missing", f"to {action} a service, give its name; `list` has those there are")
        if action == "log":
            found = services.log(owner, name, LOG)
            return Result({"log": found.text, "bytes": f"{found.start}-{found.end} of {found.size}"})
        if action == "stop":
            return Result(_told(await services.stop(owner, name)))
        if not command:
            raise ToolFailed("missing", "to start a service, give its command")
        state = await services.start(owner, Service(name=name, command=command, directory=directory, restart=restart), call.label)
        return Result(_told(state), touched=(Touched("process", f"{name}: {command}"[:500], "service"),))

    return (service,)


def _told(state: ServiceState) -> JsonValue:
    found: dict[str, JsonValue] = {"name": state.service.name, "state": state.state, "since": state.since}
    return {**found, **({"restarts": state.restarts} if state.restarts else {}), **({"last": state.last} if state.last else {})}
