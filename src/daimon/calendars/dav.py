"""What is asked of a CalDAV server, and what it answers: XML, both ways. Pure.

An answer is a stranger's text until it is read: no document type is taken, so there are no entities to expand and nothing to fetch, and
nesting is bounded. What is not a multistatus is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pyexpat import ExpatError, ParserCreate
from xml.etree.ElementTree import Element, TreeBuilder

DAV, CAL = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}"
DEEPEST = 50
_SPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'


class NotXml(ValueError):
    """Says what is wrong with an answer."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing that the server tells of: where it is, and its properties that are there."""

    href: str
    properties: dict[str, Element]

    def text(self, name: str) -> str:
        found = self.properties.get(name)
        return "" if found is None else (found.text or "").strip()

    def hrefs(self, name: str) -> tuple[str, ...]:
        found = self.properties.get(name)
        return () if found is None else tuple((each.text or "").strip() for each in found.iter(f"{DAV}href"))

    def has(self, name: str, inner: str) -> bool:
        found = self.properties.get(name)
        return found is not None and found.find(inner) is not None


def wanted(*names: str) -> bytes:
    """The body of a PROPFIND for these properties."""
    inner = "".join(f"<{_short(name)}/>" for name in names)
    return f'<?xml version="1.0" encoding="utf-8"?><d:propfind {_SPACES}><d:prop>{inner}</d:prop></d:propfind>'.encode()


def between(since: datetime, until: datetime) -> bytes:
    """The body of a REPORT for all events between the two."""
    span = f'<c:time-range start="{_stamp(since)}" end="{_stamp(until)}"/>'
    return (
        f'<?xml version="1.0" encoding="utf-8"?><c:calendar-query {_SPACES}><d:prop><d:getetag/><c:calendar-data/></d:prop><c:filter>'
        f'<c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">{span}</c:comp-filter></c:comp-filter>'
        "</c:filter></c:calendar-query>"
    ).encode()


def resources(body: bytes) -> tuple[Resource, ...]:
    """Of a multistatus. Raises NotXml."""
    root = _read(body)
    if root.tag != f"{DAV}multistatus":
        raise NotXml(f"it answered with {root.tag[:60]!r}, expected a multistatus")
    return tuple(_resource(each) for each in root.iter(f"{DAV}response"))


def _resource(response: Element) -> Resource:
    href = (response.findtext(f"{DAV}href") or "").strip()
    return Resource(href, {each.tag: each for each in _there(response)})


def _there(response: Element) -> Iterator[Element]:
    for group in response.findall(f"{DAV}propstat"):
        if " 200 " in f"{group.findtext(f'{DAV}status') or ' 200 '} ":
            yield from (each for inner in group.findall(f"{DAV}prop") for each in inner)


def _read(body: bytes) -> Element:
    building, parser, depth = TreeBuilder(), ParserCreate(namespace_separator="}"), 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if (depth := depth + 1) > DEEPEST:
            raise NotXml(f"its answer is nested more than {DEEPEST} levels deep")
        building.start(_named(tag), attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        building.end(_named(tag))

    def refuse(*_: object) -> None:
        raise NotXml("its answer has a document type, which no calendar server sends")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, building.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body, True)
        return building.close()
    except (ExpatError, AssertionError, LookupError) as broken:
        raise NotXml(f"its answer is no XML: {broken}") from None


def _named(tag: str) -> str:
    return f"{{{tag}" if "}" in tag else tag


def _short(name: str) -> str:
    return name.replace(DAV, "d:").replace(CAL, "c:")


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
