"""Does it work? One small call to a model, and the list of what its provider has.

Both are for the owner who sets a model up, so a failure says what to change. A key goes to the address that it was given for and
nowhere else: redirects are reported, not followed. It knows nothing of budgets; what a probe costs is in its answer.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import JsonValue

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Message, Role, Text
from daimon.abi.model import Delta, Model, Reply, Request
from daimon.abi.step import Sampling
from daimon.models.bounded import MOST_LIST_BYTES, at_most, bound
from daimon.models.endpoint import Endpoint
from daimon.models.failures import keyless
from daimon.models.vendors import Shape

if TYPE_CHECKING:
    from httpx2 import Response

SAY = "Say ok."
FEW_TOKENS = 16
FIRST_S = 30.0
"""To the first word: nobody sits before a silent terminal for longer."""
CALL_S = 180.0
LIST_S = 15.0
NOT_AN_API = "garbage"
_LISTS: dict[Shape, str] = {"openai": "/models", "anthropic": "/v1/models?limit=1000", "google": "/v1beta/models?pageSize=1000"}
_CONTEXT_FIELDS = ("context_length", "max_model_len", "inputTokenLimit", "max_input_tokens", "max_context_length")
"""What providers call it in their lists."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Answer:
    reply: Reply
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Listed:
    model: str
    context_tokens: int | None = None


async def call(model: Model, place: str, first_s: float = FIRST_S, wait_s: float = CALL_S) -> Answer:
    """One real call, as small as it gets. `place`: where the model is, for people. Raises ProviderFailed."""
    request = Request((Message(Role.USER, (Text(SAY),)),), sampling=Sampling(max_output_tokens=FEW_TOKENS), thread="probe")
    await model.profile()  # loads the libraries, which is no time of the model's
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        async with asyncio.timeout(wait_s):
            reply = await _reply(model, request, place, first_s)
    except TimeoutError:
        raise ProviderFailed("timeout", f"{model.name} at {place} did not finish {FEW_TOKENS} tokens within {wait_s:g} s") from None
    words = "".join(part.text for part in reply.parts if isinstance(part, Text))
    return Answer(reply, words.strip(), clock() - started)


async def _reply(model: Model, request: Request, place: str, first_s: float) -> Reply:
    stream = model.stream(request)
    try:
        async with asyncio.timeout(first_s):
            first = await anext(stream, None)
    except TimeoutError:
        check = "is the address right, and is a model server there? One that is still loading the model needs a second try"
        raise ProviderFailed("timeout", f"{model.name} at {place} said nothing for {first_s:g} s: {check}") from None
    match first:
        case Reply():
            return first
        case Delta():
            async for piece in stream:
                if isinstance(piece, Reply):
                    return piece
        case None:
            pass
    raise ProviderFailed("cut", f"{model.name} broke off before its reply was complete")


async def models(endpoint: Endpoint, wait_s: float = LIST_S) -> tuple[Listed, ...]:
    """What the provider says it has, the newest first where it says how old they are. Raises ProviderFailed."""
    import httpx2  # not needed by those who only offer models

    async def count(response: httpx2.Response) -> None:
        bound(response, partial(at_most, endpoint=endpoint, most_bytes=MOST_LIST_BYTES))

    hooks = {"response": [count]}
    try:
        async with (
            httpx2.AsyncClient(timeout=wait_s, trust_env=not endpoint.is_near, event_hooks=hooks) as client,
            asyncio.timeout(wait_s),
        ):
            answer = await client.get(f"{endpoint.address}{_LISTS[endpoint.served_by.shape]}", headers=endpoint.credentials())
    except (httpx2.TimeoutException, TimeoutError):
        raise _failed("timeout", endpoint, f"did not answer within {wait_s:g} s; is the network up?") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        reason = str(error).strip() or type(error).__name__
        raise _failed("unreachable", endpoint, f"cannot be reached ({reason[:_SHOWN]}); is the address right, and does it run?") from None
    return _read(endpoint, answer)


def _read(endpoint: Endpoint, answer: "Response") -> tuple[Listed, ...]:
    try:
        said: JsonValue = answer.json()
    except (ValueError, RecursionError):
        said = None
    is_page = "html" in answer.headers.get("content-type", "")
    if not is_page and (answer.status_code in (401, 403) or _says_bad_key(said)):
        if not endpoint.has_key and (endpoint.served_by.needs_key or endpoint.key_variable):
            raise keyless(endpoint)
        raise _failed("auth", endpoint, f"does not accept the key ({answer.status_code}); look at it once more, or make a new one there")
    if answer.is_redirect:
        raise _failed(NOT_AN_API, endpoint, f"sends us on to {answer.headers.get('location', 'another place')}; give that address instead")
    if said is None or answer.status_code in (404, 405):
        what = "a web page" if is_page else f"status {answer.status_code}"
        raise _failed(NOT_AN_API, endpoint, f"answers {_path(endpoint)} with {what}, not with a list of models; is the address right?")
    if not answer.is_success:
        raise _failed("rejected", endpoint, f"answered {answer.status_code}: {answer.text[:_SHOWN]}")
    return _rows(endpoint, said)


def _says_bad_key(said: JsonValue) -> bool:
    """Google answers 400 to a wrong key."""
    return isinstance(said, dict) and "API_KEY_INVALID" in str(said.get("error"))


def _rows(endpoint: Endpoint, said: JsonValue) -> tuple[Listed, ...]:
    rows = (said.get("data") or said.get("models")) if isinstance(said, dict) else None
    if rows is None and isinstance(said, dict) and said.keys() & {"data", "models"}:
        rows = []
    if not isinstance(rows, list):
        raise _failed(NOT_AN_API, endpoint, f"answers {_path(endpoint)}, but not with a list of models; is the address right?")
    talking = [row for row in rows if isinstance(row, dict) and _talks(row)]
    talking.sort(key=_age)
    return tuple(Listed(name, _context(row)) for row in talking if (name := _name(row)))


def _name(row: Mapping[str, JsonValue]) -> str:
    name = row.get("id") or row.get("name")
    return name.removeprefix("models/") if isinstance(name, str) else ""


def _talks(row: Mapping[str, JsonValue]) -> bool:
    methods = row.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods


def _age(row: Mapping[str, JsonValue]) -> float:
    created = row.get("created")
    return -created if isinstance(created, int | float) else 0.0


def _context(row: Mapping[str, JsonValue]) -> int | None:
    return next((size for field in _CONTEXT_FIELDS if isinstance(size := row.get(field), int)), None)


def _path(endpoint: Endpoint) -> str:
    return urlsplit(endpoint.address).path + _LISTS[endpoint.served_by.shape].partition("?")[0]


def _failed(reason: str, endpoint: Endpoint, text: str) -> ProviderFailed:
    sentence = f"{endpoint.served_by.title} at {endpoint.host} {endpoint.hide(text)}"
    return ProviderFailed(reason, sentence, is_lasting=reason != "timeout")
