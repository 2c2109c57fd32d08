"""Calls that need a person's word, made by hand."""

from datetime import UTC, datetime, tzinfo
from typing import Any

from pydantic import JsonValue

from daimon.abi.ids import SELF, Key
from daimon.abi.judgement import Gate, Provenance
from daimon.abi.step import Intended
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest
from daimon.kernel.offers import Ground, Wanted

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROLES = {
    "to": ArgumentRole.DESTINATION, "cc": ArgumentRole.DESTINATION, "file": ArgumentRole.TARGET, "amount": ArgumentRole.AMOUNT,
    "subject": ArgumentRole.CONTENT, "body": ArgumentRole.CONTENT, "password": ArgumentRole.SECRET, "level": ArgumentRole.PERMISSION,
}  # fmt: skip


def ground(job: str = "", zone: tzinfo = UTC, now: datetime = NOW) -> Ground:
    return Ground(SELF, job, now, zone)


def wanted(
    arguments: dict[str, JsonValue],
    *provenance: Provenance,
    tool: str = "send_email",
    capabilities: tuple[Capability, ...] = (Capability.SENDS,),
    reason: str = "",
    **more: Any,
) -> Wanted:
    manifest = Manifest(
        name=tool, description="Send an email.", parameters={}, effect=Effect.UNSAFE, roles=ROLES, capabilities=capabilities, **more
    )
    gate = Gate("ask", reason, provenance=provenance)
    return Wanted(4, Intended("c1", tool, arguments, Key("t1:4"), Effect.UNSAFE, "m1", gate), manifest)
