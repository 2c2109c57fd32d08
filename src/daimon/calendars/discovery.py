"""Which calendars there are on a server: from an address to the collections of events behind it (RFC 6764, RFC 4791).

    the address itself → /.well-known/caldav → who the user is (principal) → their home → what lies there

Each step asks for one thing and goes on with the first answer that leads further; an address that is a calendar ends it at once.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from daimon.abi.errors import ToolFailed
from daimon.calendars.account import Account, On
from daimon.calendars.dav import CAL, DAV, Resource, wanted
from daimon.calendars.reading import tidy

MOST = 100
_PRINCIPAL, _KIND, _NAME = f"{DAV}current-user-principal", f"{DAV}resourcetype", f"{DAV}displayname"
_HOME, _HOLDS = f"{CAL}calendar-home-set", f"{CAL}supported-calendar-component-set"


@dataclass(frozen=True, slots=True)
class Place:
    """A calendar on a server."""

    url: str
    title: str


async def calendars_at(account: Account, on: On) -> tuple[Place, ...]:
    """The calendar at the account's address, or all of its user. Raises ToolFailed; none at all is an empty answer."""
    url = account.access.url
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    is_server = urlsplit(url).path in ("", "/")  # another path means that very place, and nothing else instead
    tried = (f"{origin}/.well-known/caldav", f"{origin}/") if is_server else (url,)
    refusal: ToolFailed | None = None
    for address in tried:
        try:
            (here, *_) = await account.listed("PROPFIND", address, on, wanted(_PRINCIPAL, _KIND, _NAME, _HOLDS)) or (Resource("", {}),)
            if _is_calendar(here):
                return (Place(account.joined(here.href, url), tidy(here.text(_NAME), 100)),)
            if principals := here.hrefs(_PRINCIPAL):
                return await _of(account, account.joined(principals[0], url), on)
        except ToolFailed as failed:
            if failed.reason in ("locked_out", "unreachable", "unknown_host", "timeout", "tls"):
                raise
            refusal = refusal or failed
    raise refusal or ToolFailed("no_calendar", f"the calendar {account.access.name}: no calendar is found at {url}; check its url")


async def _of(account: Account, principal: str, on: On) -> tuple[Place, ...]:
    (user, *_) = await account.listed("PROPFIND", principal, on, wanted(_HOME)) or (Resource("", {}),)
    found: dict[str, Place] = {}
    for home in user.hrefs(_HOME)[:3]:
        at = account.joined(home, principal)
        for each in await account.listed("PROPFIND", at, on, wanted(_KIND, _NAME, _HOLDS), depth="1"):
            if _is_calendar(each):
                place = Place(account.joined(each.href, at), tidy(each.text(_NAME), 100))
                found.setdefault(place.url, place)
    return tuple(found.values())[:MOST]


def _is_calendar(resource: Resource) -> bool:
    if not resource.has(_KIND, f"{CAL}calendar"):
        return False
    holds = resource.properties.get(_HOLDS)
    return holds is None or any(each.get("name", "").upper() == "VEVENT" for each in holds)
