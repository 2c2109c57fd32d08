"""The first rules: everything is allowed but what is consequential, and that is asked.

A tool is consequential when it leaves the machine, spends, deletes, or changes who may do what.
"""

from pydantic import JsonValue

from daimon.abi.judgement import Gate, Situation
from daimon.abi.tool import CONSEQUENTIAL, Manifest


class StandingRules:
    @property
    def version(self) -> str:
        return "standing-1"

    def judge(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        if not manifest.is_consequential:
            return Gate("allow", version=self.version)
        what = ", ".join(sorted(c.value for c in CONSEQUENTIAL.intersection(manifest.capabilities)))
        return Gate("ask", f"It {what}.", version=self.version)
