"""As whom Daimon signs in: a client that the owner registered there by hand, or one that the service makes on request (RFC 7591)."""

import base64
from dataclasses import dataclass, field
from urllib.parse import quote

from daimon.abi.errors import WebFailed
from daimon.mcp.oauth.asking import Asking, host_of
from daimon.mcp.oauth.places import Places
from daimon.mcp.words import shown

NAME = "Daimon"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_METHODS = ("none", "client_secret_post", "client_secret_basic")


@dataclass(frozen=True, slots=True)
class Client:
    id: str
    secret: str = field(default="", repr=False)
    method: str = "none"

    def proven(self, fields: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """The fields and headers of a request to the token endpoint, with who asks."""
        if self.method == "client_secret_basic" and self.secret:
            pair = f"{quote(self.id, safe='')}:{quote(self.secret, safe='')}"
            return fields, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        named = {**fields, "client_id": self.id}
        return ({**named, "client_secret": self.secret} if self.method == "client_secret_post" and self.secret else named), {}


def given(places: Places, id_: str, secret: str) -> Client:
    """The one that the owner registered."""
    if not secret:
        return Client(id_)
    method = "client_secret_basic" if "client_secret_post" not in places.methods and places.methods else "client_secret_post"
    return Client(id_, secret, method)


async def registered(asking: Asking, places: Places, redirect: str = "") -> Client:
    """A new one, for the browser that comes back to `redirect`, or for a device. Raises WebFailed."""
    if not places.register:
        raise WebFailed(
            "refused",
            f"{host_of(places.issuer)} registers nobody by itself; register Daimon there and say --client-id",
        )
    method = next((each for each in _METHODS if each in places.methods), "none")
    heard = await asking.json(
        places.register,
        {
            "client_name": NAME,
            "application_type": "native",
            "redirect_uris": [redirect] if redirect else [],
            "grant_types": [*(["authorization_code"] if redirect else [DEVICE]), "refresh_token"],
            "response_types": ["code"] if redirect else [],
            "token_endpoint_auth_method": method,
            **({"scope": " ".join(places.scopes)} if places.scopes else {}),
        },
    )
    client = Client(heard.text("client_id"), heard.text("client_secret"), heard.text("token_endpoint_auth_method") or method)
    if not heard.is_well or not client.id:
        why = shown(heard.text("error_description"), 200) or heard.error or f"status {heard.status}"
        raise WebFailed("refused", f"{host_of(places.register)} does not register Daimon: {why}; register it there and say --client-id")
    if client.method not in _METHODS or (client.method != "none" and not client.secret):
        raise WebFailed("bad_answer", f"{host_of(places.register)} registered Daimon as it cannot be used: {shown(client.method, 40)}")
    return client
