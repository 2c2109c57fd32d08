"""What no policy can lift: calls that never run, whoever allows them."""

from pydantic import JsonValue

from daimon.abi.plain import size
from daimon.abi.tool import Manifest

MOST_CHARACTERS = 1_000_000


class StandingFloor:
    def forbids(self, manifest: Manifest, arguments: dict[str, JsonValue]) -> str:
        if (length := size(arguments)) > MOST_CHARACTERS:
            return f"the arguments of {manifest.name} hold {length} characters, at most {MOST_CHARACTERS} may be passed; use a file"
        return ""
