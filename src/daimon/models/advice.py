"""What to do about an endpoint that does not work, said to the owner who sets it up.

Half of all wrong addresses lack only the end, and half of all wrong names are nearly right: its own list of models can tell. The rest
of the advice replaces what the kernel would do: nobody tries again here. Nothing is changed by it: the owner decides.
"""

import difflib
from collections.abc import Sequence
from dataclasses import replace

from daimon.abi.errors import ProviderFailed
from daimon.models import probe
from daimon.models.endpoint import Endpoint
from daimon.models.failures import AGAIN, lacks_path, without_advice

_FEW = 5
_OBVIOUS = ("auth", "payment")
_LATER = "try again later"
_INSTEAD = {"rate": _LATER, "overloaded": _LATER, "server": _LATER, "timeout": _LATER, "cut": "try again", "empty": "try again"}


async def advised(failed: ProviderFailed, endpoint: Endpoint, listing: str = "") -> ProviderFailed:
    """The same failure, with a remedy. `listing`: the command that lists what this provider has; empty: there is none."""
    found = await _found_out(failed, endpoint, listing)
    whole = str(failed)
    bare = without_advice(failed, endpoint)
    if bare == whole:
        text = f"{whole.rstrip('.')}; {found}" if found else whole
    else:
        advice = found or _instead(failed, endpoint, whole.removeprefix(f"{bare}: "))
        text = f"{bare}: {advice}"
    return ProviderFailed(failed.reason, text, is_lasting=failed.is_lasting, was_sent=failed.was_sent, retry_after_s=failed.retry_after_s)


def _instead(failed: ProviderFailed, endpoint: Endpoint, usual: str) -> str:
    if failed.reason == "auth":
        return _about_key(endpoint)
    if failed.reason == "not_found" and not lacks_path(endpoint):
        return "check its name" if endpoint.base_url is None else f"check its name, and the address {endpoint.place}"
    if failed.reason == "garbage":  # of two kinds, and one of them says what the kernel would do
        return _LATER if usual == AGAIN else usual
    return _INSTEAD.get(failed.reason, usual)


def _about_key(endpoint: Endpoint) -> str:
    if endpoint.has_key:
        return "check the key"
    if endpoint.key_variable:
        return f"the variable {endpoint.key_variable} is not set in this environment"
    return "`daimon model add` takes it with --key-stdin or --key-env"


async def _found_out(failed: ProviderFailed, endpoint: Endpoint, listing: str) -> str:
    if not failed.is_lasting or failed.reason in _OBVIOUS:
        return ""
    try:
        names = [row.model for row in await probe.models(endpoint)]
    except ProviderFailed as worse:
        return await _longer(endpoint) if worse.reason == probe.NOT_AN_API else ""
    if not endpoint.model or endpoint.model in names:
        return ""
    more = f"; `{listing}` shows all" if listing and len(names) > _FEW else ""
    return f"{_near(endpoint.model, names)}{more}"


async def _longer(endpoint: Endpoint) -> str:
    if endpoint.base_url is None or endpoint.address.endswith("/v1") or endpoint.served_by.shape != "openai":
        return ""
    longer = f"{endpoint.address}/v1"
    try:
        await probe.models(replace(endpoint, base_url=longer))
    except ProviderFailed:
        return ""
    return f"there are models at {longer}: use --base-url {longer}"


def _near(model: str, names: Sequence[str]) -> str:
    if not names:
        return "it has no models at all; load or pull one first"
    near = difflib.get_close_matches(model, names, _FEW, 0.5) or [name for name in names if model.lower() in name.lower()]
    return f"near to it {'is' if len(near) == 1 else 'are'} {', '.join(near[:_FEW])}" if near else f"it has {', '.join(names[:_FEW])}"
