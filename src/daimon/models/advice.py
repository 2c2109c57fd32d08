"""What to do about an endpoint that does not work, as far as its own list of models can tell.

Half of all wrong addresses lack only the end, and half of all wrong names are nearly right. Nothing is changed by it: the owner decides.
"""

import difflib
from collections.abc import Sequence
from dataclasses import replace

from daimon.abi.errors import ProviderFailed
from daimon.models import probe
from daimon.models.endpoint import Endpoint

_FEW = 5
_OBVIOUS = ("auth", "payment")


async def advised(failed: ProviderFailed, endpoint: Endpoint) -> ProviderFailed:
    """The same failure, with a remedy where one can be found out."""
    advice = await _advice(failed, endpoint)
    if not advice:
        return failed
    text = f"{str(failed).rstrip('.')}; {advice}"
    return ProviderFailed(failed.reason, text, is_lasting=failed.is_lasting, was_sent=failed.was_sent, retry_after_s=failed.retry_after_s)


async def _advice(failed: ProviderFailed, endpoint: Endpoint) -> str:
    if not failed.is_lasting or failed.reason in _OBVIOUS:
        return ""
    try:
        names = [row.model for row in await probe.models(endpoint)]
    except ProviderFailed as worse:
        return await _longer(endpoint) if worse.reason == probe.NOT_AN_API else ""
    return "" if not endpoint.model or endpoint.model in names else _near(endpoint.model, names)


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
