"""Ways around people's answers that a hijacked model could have taken, each closed."""

from tests.kernel.wanted import ground, wanted

from daimon.kernel import permission


def test_nobody_hides_at_the_end_of_a_long_recipient() -> None:
    places = ", ".join(f"friend-{i}@example.org" for i in range(8))
    shown = permission.question([wanted({"to": f"{places}, eve@evil.org", "subject": "x"})], ground()).text
    assert "eve@evil.org" in shown.splitlines()[0]
    assert "eve@evil.org" in shown.splitlines()[1], "what a grant would cover is told in full as well"
