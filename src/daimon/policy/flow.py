"""On what basis does a call stand? A reading of the situation; what follows from it is for the policies to say."""

from pydantic import JsonValue

from daimon.abi.judgement import Situation
from daimon.abi.label import Author
from daimon.abi.tool import Capability, Manifest
from daimon.policy.facts import Facts


def weigh(manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Facts:
    if not manifest.is_consequential and Capability.PLANS not in manifest.capabilities:
        return Facts(basis="harmless", by="harmless")
    if situation.is_clean:
        return Facts(basis="clean", by="clean")
    others = [origin for origin in situation.call.label.origins if origin.author not in (Author.OWNER, Author.SERVICE)]
    return Facts(basis="none", reason=f"What led to it holds words of others: {', '.join(map(str, others[:3])) or 'nobody knows whose'}.")
