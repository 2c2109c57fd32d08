"""The desk at `/mcp`: what a caller may ask for, asked for and answered.

Who calls is looked at again with every call, and once more before the answer: a token that was revoked while a session was open is worth
nothing, whatever the session says. Whatever is answered is without known secrets. An error says what to do, like those of the API.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.access import Caller
from daimon.abi.cleaning import cleaned_json
from daimon.abi.codec import encode
from daimon.abi.errors import Forbidden, NotFound
from daimon.abi.secret import Redactor
from daimon.gateway.entry import require
from daimon.gateway.mcp.ability import Ability, Progress
from daimon.gateway.mcp.party import Party


@dataclass(frozen=True, slots=True)
class Desk:
    abilities: tuple[Ability, ...]
    redactor: Redactor
    is_still: Callable[[Caller], bool]

    def offered(self, caller: Caller) -> tuple[Ability, ...]:
        return tuple(each for each in self.abilities if each.needs in caller.rights)

    async def call(self, caller: Caller, name: str, arguments: JsonValue, progress: Progress) -> bytes:
        """The answer as JSON. Raises DaimonError; NotFound for an ability that there is not."""
        ability = next((each for each in self.abilities if each.name == name), None)
        if ability is None:
            raise NotFound(f"there is no tool {name[:60]!r}; there are {', '.join(each.name for each in self.offered(caller))}")
        self._require(caller)
        require(caller, ability.needs)
        answer = await ability.does(Party(caller), ability.read(arguments), progress)
        self._require(caller)
        return cleaned_json(encode(ability.answers, answer), self.redactor.clean_known)

    def _require(self, caller: Caller) -> None:
        if not self.is_still(caller):
            raise Forbidden("this token was revoked, or has other rights by now; connect anew")
