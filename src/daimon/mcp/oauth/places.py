"""Where one signs in for a server: found by what the server and its sign-in service say of themselves.

    the server, asked without a token → its protected-resource metadata (RFC 9728) → the issuer → its metadata (RFC 8414, OpenID)

All of that are words of strangers, so they count for what they can prove. The description of the server must be about this very server,
and is read from the server's own host. The description of an issuer must name the issuer that was asked. An address that is not https is
refused, unless the owner wrote the server's own address without it. The page where the owner signs in must be the issuer's own: else a bad
issuer could send the owner to a good one's page, and take the code that the good one gives. Where that is meant, the owner names the host.
"""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from daimon.abi.errors import WebFailed
from daimon.mcp.oauth import challenge
from daimon.mcp.oauth.asking import Asking, Heard, host_of
from daimon.mcp.words import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    resource: str
    """What tokens are asked for, and good for."""
    issuer: str
    authorize: str
    token: str
    register: str = ""
    device: str = ""
    revoke: str = ""
    scopes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    """How a client may prove itself at the token endpoint."""
    names_itself: bool = False
    """Its answers say who the issuer is (RFC 9207)."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """All that take part, for the owner to see."""
        return tuple(dict.fromkeys(host_of(each) for each in (self.issuer, self.authorize, self.token, self.device) if each))


async def find(asking: Asking, server: str, known: Collection[str] = ()) -> Places:
    """`known`: hosts of sign-in pages that the owner named. Raises WebFailed."""
    said, asked = await _described(asking, server)
    issuer, resource = _issuer(said, server), said.text("resource") if said else server
    told = await _issuer_described(asking, issuer, is_own=said is None)
    places = Places(
        resource=resource.partition("#")[0],
        issuer=issuer,
        authorize=told.text("authorization_endpoint"),
        token=told.text("token_endpoint"),
        register=told.text("registration_endpoint"),
        device=told.text("device_authorization_endpoint"),
        revoke=told.text("revocation_endpoint"),
        scopes=_scopes(asked, said, told),
        methods=told.texts("token_endpoint_auth_methods_supported"),
        names_itself=told.fields.get("authorization_response_iss_parameter_supported") is True,
    )
    _check(places, told, server, known)
    return places


async def _described(asking: Asking, server: str) -> tuple[Heard | None, dict[str, str]]:
    """What the server says of itself, if it does, and what it answered to somebody without a token."""
    asked = await _challenge(asking, server)
    for url in _descriptions(asked.get("resource_metadata", ""), server):
        found = await asking.get(url)
        if found.is_well and found.texts("authorization_servers"):
            if not _is_about(found.text("resource"), server):
                about = shown(found.text("resource"), 200) or "nothing"
                raise WebFailed("refused", f"{host_of(server)} describes {about} instead of itself; nobody signs in there")
            return found, asked
    return None, asked


async def _challenge(asking: Asking, server: str) -> dict[str, str]:
    """The fields of the header with which it asks for a token."""
    try:
        heard = await asking.json(server, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    except WebFailed as failed:
        if failed.reason in ("too_many_redirects", "refused", "bad_answer"):
            return {}
        raise
    if heard.status not in (401, 403):
        return {}
    import httpx2

    answer = httpx2.Response(heard.status, headers={"WWW-Authenticate": heard.headers.get("www-authenticate", "")})
    found = {name: challenge.field(answer, name) for name in ("resource_metadata", "scope")}
    return {name: value for name, value in found.items() if value}


def _descriptions(hinted: str, server: str) -> list[str]:
    """Only on the server's own host: elsewhere somebody else speaks."""
    from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls

    is_own = _origin(hinted) == _origin(server)
    return list(dict.fromkeys(build_protected_resource_metadata_discovery_urls(hinted if is_own else None, server)))


async def _issuer_described(asking: Asking, issuer: str, *, is_own: bool) -> Heard:
    from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls, issuers_match

    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        found = await asking.get(url)
        if not found.is_well:
            continue
        if not issuers_match(found.text("issuer"), issuer):
            named = shown(found.text("issuer"), 200) or "nobody"
            raise WebFailed("refused", f"{host_of(issuer)} says that it is {named}, not {issuer}; nobody signs in there")
        return found
    why = "it does not say where one signs in; does it need a login at all?" if is_own else "it does not describe itself"
    raise WebFailed("bad_answer", f"{host_of(issuer)}: {why}")


def _issuer(said: Heard | None, server: str) -> str:
    issuer = said.texts("authorization_servers")[0] if said else _origin(server)
    if not host_of(issuer):
        raise WebFailed("bad_answer", f"{host_of(server)} names a sign-in service that is no address: {shown(issuer, 200)}")
    return issuer


def _is_about(resource: str, server: str) -> bool:
    from mcp.shared.auth_utils import check_resource_allowed

    return bool(resource) and check_resource_allowed(server, resource)


def _scopes(asked: dict[str, str], said: Heard | None, told: Heard) -> tuple[str, ...]:
    """What the server asked for, else all that it knows; and leave to renew, where that is a scope."""
    wanted = challenge.scopes(asked.get("scope", "")) or (challenge.scopes(" ".join(said.texts("scopes_supported"))) if said else ())
    renewing = "offline_access" in told.texts("scopes_supported") and bool(wanted)
    return tuple(dict.fromkeys((*wanted, "offline_access") if renewing else wanted))


def _check(places: Places, told: Heard, server: str, known: Collection[str]) -> None:
    """Raises WebFailed."""
    if not places.token or not (places.authorize or places.device):
        raise WebFailed("bad_answer", f"{host_of(places.issuer)} does not say where one signs in")
    for url in filter(None, (places.issuer, places.authorize, places.token, places.register, places.device, places.revoke)):
        if not _is_sealed(url, server):
            raise WebFailed("refused", f"{host_of(places.issuer)} wants secrets sent to {shown(url, 200)}, which is no https address")
    if "code_challenge_methods_supported" in told.fields and "S256" not in told.texts("code_challenge_methods_supported"):
        raise WebFailed("refused", f"{host_of(places.issuer)} does not take a proof that the code was asked for from here (PKCE with S256)")
    for url in filter(None, (places.authorize, places.device)):
        if host_of(url) != host_of(places.issuer) and host_of(url) not in known:
            raise WebFailed(
                "refused",
                f"{host_of(places.issuer)} sends you to {host_of(url)} to sign in, which is another host: it may want the code that you "
                f"get there for itself. If you know that the two belong together, add --at {host_of(url)}",
            )


def _is_sealed(url: str, server: str) -> bool:
    parts = urlsplit(url)
    is_as_written = urlsplit(server).scheme == "http" and parts.hostname == urlsplit(server).hostname
    return bool(parts.hostname) and not parts.username and (parts.scheme == "https" or (parts.scheme == "http" and is_as_written))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
