"""Names of places to names of time zones, as far as the zone database and a short list of its gaps know them."""

from functools import cache
from zoneinfo import available_timezones

_GAPS = {
    "america/los_angeles": "san francisco, seattle, las vegas, san diego, california, silicon valley, la",
    "america/new_york": "nyc, washington, boston, miami, atlanta, philadelphia",
    "america/chicago": "dallas, houston, austin, texas",
    "america/toronto": "montreal, ottawa",
    "america/sao_paulo": "rio, rio de janeiro",
    "asia/kolkata": "india, delhi, new delhi, mumbai, bangalore, bengaluru, chennai",
    "asia/shanghai": "china, beijing, shenzhen",
    "asia/tokyo": "osaka, kyoto",
    "asia/seoul": "korea, south korea",
    "asia/bangkok": "thailand",
    "asia/dubai": "abu dhabi",
    "europe/berlin": "germany, munich, hamburg, frankfurt, cologne",
    "europe/london": "england, uk, scotland, manchester, edinburgh",
    "europe/paris": "france, lyon",
    "europe/rome": "italy, milan",
    "europe/madrid": "spain, barcelona",
    "europe/lisbon": "porto",
    "europe/zurich": "switzerland, geneva",
    "europe/vienna": "austria",
    "europe/amsterdam": "netherlands, the netherlands, holland",
    "europe/warsaw": "krakow",
    "europe/istanbul": "ankara",
    "europe/kiev": "kyiv",
    "pacific/auckland": "wellington",
    "pacific/honolulu": "hawaii",
}
_PLACES = {place: zone for zone, places in _GAPS.items() for place in places.split(", ")}


def zone_of(place: str) -> str | None:
    """A zone's own name, a city that has one, or a place of the list."""
    plain = " ".join(place.lower().replace("_", " ").split())
    return _names().get(_PLACES.get(plain, plain).replace("_", " "))


@cache
def _names() -> dict[str, str]:
    """Each zone by its full name and by its city. A city named twice keeps the shorter name, which is the current one."""
    zones = sorted(available_timezones(), key=lambda zone: (len(zone), zone), reverse=True)
    plain = {zone: zone.lower().replace("_", " ") for zone in zones}
    cities = {plain[zone].rpartition("/")[2]: zone for zone in zones if not zone.startswith("Etc/")}
    return cities | {plain[zone]: zone for zone in zones}
