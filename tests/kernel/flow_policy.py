"""The flow rules as a policy: what stands on something is allowed, what stands on nothing is asked, what is off plan is denied."""

from typing import Literal

from pydantic import JsonValue

from daimon.abi.judgement import Gate, Situation
from daimon.abi.tool import Manifest
from daimon.policy.facts import Basis
from daimon.policy.flow import weigh

_VERDICTS: dict[Basis, Literal["allow", "ask", "deny"]] = {
    "harmless": "allow", "clean": "allow", "plan": "allow", "words": "allow", "none": "ask", "off_plan": "deny",
}  # fmt: skip


class FlowPolicy:
    version = "flow"

    def judge(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        facts = weigh(manifest, arguments, situation)
        return Gate(_VERDICTS[facts.basis], facts.reason, version=self.version, by=facts.by, provenance=facts.provenance)
