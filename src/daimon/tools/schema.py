"""From an async function to a tool.

    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "tool:remember"))
    async def remember(call: Call, text: Annotated[str, ArgumentRole.CONTENT, "What to keep, in one sentence."]) -> Result:
        '''Keep a note for later.'''

Name, docstring and signature become the manifest (`signature.py` reads them), so there is no second place to keep in step. A tool that
needs a port is made by a factory function that closes over it. What cannot be a truthful manifest raises Misconfigured when the
function is defined, so at boot, never in a turn.

Before each run the arguments are checked (`fit.py` decides, with words for the model) and turned into Python values by pydantic, which is
strict as well and so a second wall.
"""

import inspect
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Required, TypedDict, Unpack

from pydantic import JsonValue

from daimon.abi.errors import Misconfigured, ToolFailed
from daimon.abi.tool import Call, Capability, Effect, Manifest, Pending, Rate, Result, ResultLabel
from daimon.tools.fit import misfits, refusal
from daimon.tools.review import review
from daimon.tools.shape import Object
from daimon.tools.signature import Signature, read
from daimon.tools.words import clean

Body = Callable[..., Awaitable[Result | Pending]]
Proof = Callable[..., Awaitable[Result | None]]


class Declared(TypedDict, total=False):
    """What a signature cannot say. Defaults are those of the manifest."""

    effect: Required[Effect]
    result: ResultLabel
    timeout_s: float
    max_result_bytes: int
    rate: Rate | None
    needs: tuple[str, ...]
    changes_files: bool
    is_rare: bool


def tool(
    *, capabilities: AbstractSet[Capability] = frozenset(), verify: Proof | None = None, **declared: Unpack[Declared]
) -> Callable[[Body], "Built"]:
    """Makes a tool of an async function. `verify` takes the same arguments and says whether the call with this key happened."""

    def build(body: Body) -> Built:
        try:
            if not inspect.iscoroutinefunction(body):
                raise Misconfigured("it is not an async function")
            if (declared["effect"] is Effect.VERIFIABLE) is not (verify is not None):
                raise Misconfigured(f"its effect is {declared['effect']}; a verifiable tool has verify=, and no other has")
            signature = read(body)
            manifest = Manifest(
                name=body.__name__,
                description=inspect.getdoc(body) or "",
                parameters=signature.schema,
                roles=signature.roles,
                capabilities=tuple(sorted(capabilities)),
                **declared,
            )
            return Built(manifest, body, verify, signature, review(manifest))
        except Misconfigured as refused:
            raise Misconfigured(f"{getattr(body, '__qualname__', body)} cannot be a tool: {refused}") from refused

    return build


@dataclass(frozen=True, slots=True)
class Built:
    manifest: Manifest
    body: Body
    proof: Proof | None
    signature: Signature
    shape: Object

    def check(self, arguments: JsonValue) -> dict[str, Any]:
        """The arguments as Python values. Raises BadInput with what to mend."""
        if faults := misfits(self.shape, arguments, self.manifest.roles):
            raise refusal(self.manifest.name, faults)
        try:
            return self.signature.values(arguments)
        except (TypeError, ValueError, RecursionError) as broken:
            raise refusal(self.manifest.name, (f"the arguments cannot be read: {clean(str(broken))}",)) from broken

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result | Pending:
        return await self.body(call, **self.check(arguments))

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        if self.proof is None:
            # None would mean "it did not happen", and the call would be made a second time.
            raise ToolFailed("not_verifiable", f"nobody can tell whether {self.manifest.name} happened; ask the owner")
        return await self.proof(call, **self.check(arguments))
