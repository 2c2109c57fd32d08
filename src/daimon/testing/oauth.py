"""A sign-in service and the server that it guards, on loopback, by the book (RFC 6749, 7591, 7636, 8414, 8628, 8707, 9207, 9728).

    async with Service(certificates.serving("mcp.test", "login.test")) as service:
        service.port                     # for both names; who is meant stands in the Host header
        service.visit(url)               # what the owner's browser would be sent back to
        service.approve(user_code)       # as if the owner had typed it
        service.broken["/token"] = 500   # answers with that from now on
        service.described[path] = {...}  # metadata other than the true one

It keeps what it was asked. Refresh tokens are good once: a second use of one ends the whole sign-in, as services do that rotate them.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets
import ssl
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from pydantic import JsonValue

SERVER, ISSUER = "https://mcp.test/mcp", "https://login.test"
PAGE = "/authorize"
_DESCRIBED = "/.well-known/oauth-protected-resource/mcp"
_ISSUER = "/.well-known/oauth-authorization-server"
_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True, slots=True)
class Asked:
    host: str
    path: str
    fields: dict[str, str]
    headers: dict[str, str]


@dataclass
class Service:
    context: ssl.SSLContext | None = None
    server: str = SERVER
    issuer: str = ISSUER
    lasts_s: int = 3_600
    gives_secret: bool = False
    names_itself: bool = True
    broken: dict[str, int] = field(default_factory=dict)
    described: dict[str, JsonValue] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    good: set[str] = field(default_factory=set)
    """Access tokens that the server takes."""
    renewable: dict[str, bool] = field(default_factory=dict)
    """Refresh tokens, and whether each may still be used."""
    is_over: bool = False
    scopes: set[str] = field(default_factory=set)
    """What the owner was asked for at the page the last time."""
    port: int = 0
    _codes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    _devices: dict[str, str] = field(default_factory=dict)
    _approved: set[str] = field(default_factory=set)
    _clients: dict[str, str] = field(default_factory=dict)
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> "Service":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()

    def count(self, path: str) -> int:
        return sum(each.path == path for each in self.asked)

    def visit(self, url: str, *, is_refused: bool = False) -> str:
        """What the browser is sent to when the owner says yes, or no, on the page."""
        fields = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.scopes = set(fields.get("scope", "").split())
        assert (fields["response_type"], fields["code_challenge_method"]) == ("code", "S256")
        back = {"state": fields["state"], **({"iss": self.issuer} if self.names_itself else {})}
        if is_refused:
            return f"{fields['redirect_uri']}?{urlencode({**back, 'error': 'access_denied'})}"
        code = secrets.token_urlsafe(16)
        self._codes[code] = (fields["code_challenge"], fields["redirect_uri"], fields["resource"])
        return f"{fields['redirect_uri']}?{urlencode({**back, 'code': code})}"

    def approve(self, user_code: str) -> None:
        self._approved.add(user_code)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            method, target = head[0].split(" ")[:2]
            asked = Asked(headers["host"], urlsplit(target).path, _fields(headers, body), headers)
            self.asked.append(asked)
            status, data, extra = self._answer(method, asked)
            words = json.dumps(data).encode()
            lines = "".join(f"{line}\r\n" for line in (f"Content-Length: {len(words)}", "Content-Type: application/json", *extra))
            writer.write(f"HTTP/1.1 {status} X\r\n{lines}Connection: close\r\n\r\n".encode() + words)
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    def _answer(self, method: str, asked: Asked) -> tuple[int, JsonValue, tuple[str, ...]]:
        if status := self.broken.get(asked.path):
            return status, {"error": "server_error"}, ()
        if asked.path in self.described:
            return 200, self.described[asked.path], ()
        match asked.path:
            case "/mcp":
                is_known = asked.headers.get("authorization", "").removeprefix("Bearer ") in self.good
                place = self.server.removesuffix("/mcp") + _DESCRIBED
                where = f'WWW-Authenticate: Bearer resource_metadata="{place}", scope="read"'
                return (200, {"jsonrpc": "2.0", "id": 1, "result": {}}, ()) if is_known else (401, {}, (where,))
            case path if path == _DESCRIBED:
                return 200, {"resource": self.server, "authorization_servers": [self.issuer], "scopes_supported": ["read"]}, ()
            case path if path == _ISSUER:
                return 200, self.metadata(), ()
            case "/register":
                return self._register()
            case "/device":
                return 200, self._device(), ()
            case "/token":
                return self._token(asked)
            case "/revoke":
                self.renewable.pop(asked.fields.get("token", ""), None)
                return 200, {}, ()
            case _:
                return 404, {}, ()

    def metadata(self) -> dict[str, JsonValue]:
        return {
            "issuer": self.issuer, "authorization_endpoint": self.issuer + PAGE, "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register", "device_authorization_endpoint": f"{self.issuer}/device",
            "revocation_endpoint": f"{self.issuer}/revoke", "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["offline_access"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"] if self.gives_secret else ["none"],
            "authorization_response_iss_parameter_supported": self.names_itself,
        }  # fmt: skip

    def _register(self) -> tuple[int, JsonValue, tuple[str, ...]]:
        id_, secret = secrets.token_urlsafe(8), secrets.token_urlsafe(16) if self.gives_secret else ""
        self._clients[id_] = secret
        return 201, {"client_id": id_, **({"client_secret": secret} if secret else {})}, ()

    def _device(self) -> dict[str, JsonValue]:
        code, user_code = secrets.token_urlsafe(16), secrets.token_hex(3).upper()
        self._devices[code] = user_code
        return {
            "device_code": code,
            "user_code": user_code,
            "verification_uri": f"{self.issuer}/activate",
            "expires_in": 600,
            "interval": 5,
        }

    def _token(self, asked: Asked) -> tuple[int, JsonValue, tuple[str, ...]]:
        fault = self._client_fault(asked) or self._grant_fault(asked.fields)
        return (400, {"error": fault}, ()) if fault else (200, self._granted(), ())

    def _client_fault(self, asked: Asked) -> str:
        id_, secret = asked.fields.get("client_id", ""), ""
        if (basic := asked.headers.get("authorization", "")).startswith("Basic "):
            id_, secret = (unquote(each) for each in base64.b64decode(basic[6:]).decode().split(":"))
        return "" if self._clients.get(id_) == secret else "invalid_client"

    def _grant_fault(self, fields: dict[str, str]) -> str:
        match fields.get("grant_type"):
            case "authorization_code":
                challenge, redirect, resource = self._codes.pop(fields["code"], ("", "", ""))
                proof = base64.urlsafe_b64encode(hashlib.sha256(fields["code_verifier"].encode()).digest()).decode().rstrip("=")
                is_well = (proof, fields["redirect_uri"], fields["resource"]) == (challenge, redirect, resource)
                return "" if is_well and resource == self.server else "invalid_grant"
            case "refresh_token":
                if not self.is_over and self.renewable.get(fields["refresh_token"]):
                    self.renewable[fields["refresh_token"]] = False
                    return ""
                self.is_over = True
                return "invalid_grant"
            case kind if kind == _DEVICE:
                user_code = self._devices.get(fields["device_code"])
                return "invalid_grant" if user_code is None else "" if user_code in self._approved else "authorization_pending"
            case _:
                return "unsupported_grant_type"

    def _granted(self) -> JsonValue:
        access, refresh = f"at/{secrets.token_urlsafe(24)}", f"rt+{secrets.token_urlsafe(24)}=="
        self.good, self.renewable[refresh] = {access}, True
        return {"access_token": access, "token_type": "Bearer", "expires_in": self.lasts_s, "refresh_token": refresh}


def _fields(headers: dict[str, str], body: bytes) -> dict[str, str]:
    if "urlencoded" not in headers.get("content-type", ""):
        return {}
    return {name: values[0] for name, values in parse_qs(body.decode()).items()}
