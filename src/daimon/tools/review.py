"""Is a manifest to be believed? Asked of every tool, ours or not, before it can be called.

Only gaps and contradictions are refused, by a few rules that can be said in one sentence each. What a truthful manifest permits is not
known here: that is decided in `policy`, by labels, on every call.
"""

import re
from string import Formatter

from daimon.abi.errors import Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import CONSEQUENTIAL, ArgumentRole, Capability, Manifest
from daimon.tools.shape import Object, read

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

MEANT_FOR: dict[ArgumentRole, frozenset[Capability]] = {
    ArgumentRole.DESTINATION: frozenset({Capability.SENDS, Capability.SPENDS, Capability.READS_OUTSIDE}),
    ArgumentRole.AMOUNT: frozenset({Capability.SPENDS}),
    ArgumentRole.PERMISSION: frozenset({Capability.GRANTS}),
}
"""A role of the left needs one of the capabilities on the right: what is a destination for, if nothing goes there?"""


def review(manifest: Manifest) -> Object:
    """The shape of its arguments. Raises Misconfigured with everything that speaks against it."""
    if not _NAME.fullmatch(manifest.name):
        raise Misconfigured(f"a tool cannot be called {manifest.name!r}; expected a small letter, then up to 63 small letters, digits or _")
    try:
        shape = read(manifest.parameters)
    except Misconfigured as refused:
        raise Misconfigured(f"tool {manifest.name}: {refused}") from refused
    if found := [*_contradictions(manifest), *_gaps(manifest, shape)]:
        raise Misconfigured(f"tool {manifest.name}: {'; '.join(found)}")
    return shape


def _contradictions(manifest: Manifest) -> list[str]:
    found = []
    for name, role in manifest.roles.items():
        if (meant := MEANT_FOR.get(role)) and meant.isdisjoint(manifest.capabilities):
            found.append(f"{name} is a {role}, but the tool declares none of {', '.join(sorted(meant))}")
    if (acts := CONSEQUENTIAL.intersection(manifest.capabilities)) and not manifest.roles:
        found.append(f"it {', '.join(sorted(acts))}, but no argument has a role, so no policy could see what it acts on")
    if Capability.READS_OUTSIDE in manifest.capabilities and manifest.result.author is Author.OWNER:
        found.append("it reads from outside, so its result cannot be the owner's own words")
    return found


def _gaps(manifest: Manifest, shape: Object) -> list[str]:
    found = []
    if not manifest.description.strip():
        found.append("no description; write what it does and when to use it")
    if strangers := sorted(set(manifest.roles) - set(shape.properties)):
        found.append(f"a role for {', '.join(strangers)}, but there is no such argument")
    if strangers := sorted(_named_in(manifest.result.source) - set(shape.properties)):
        found.append(f"the result's source {manifest.result.source!r} names {', '.join(strangers)}, but there is no such argument")
    if wrong := [pointer for pointer in manifest.result.fields if pointer and not pointer.startswith("/")]:
        found.append(f"{', '.join(wrong)}: not a JSON pointer, expected one such as /items/0")
    limits = {"timeout_s": manifest.timeout_s, "max_result_bytes": manifest.max_result_bytes}
    if manifest.rate is not None:
        limits |= {"rate.calls": manifest.rate.calls, "rate.per_s": manifest.rate.per_s}
    found.extend(f"{name} is {value}, expected more than 0" for name, value in limits.items() if not value > 0)
    return found


def _named_in(source: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(source) if name is not None}
    except ValueError as broken:
        return {str(broken)}
