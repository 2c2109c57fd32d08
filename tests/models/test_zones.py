"""Places to zones."""

import pytest

from daimon.models.zones import zone_of


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("new  york", "America/New_York"),
        ("San Francisco", "America/Los_Angeles"),
        ("India", "Asia/Kolkata"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("Atlantis", None),
        ("../../etc/passwd", None),
        ("", None),
    ],
)
def test_a_place_is_named_by_its_zone_or_not_known(place, zone):
    assert zone_of(place) == zone
