"""Who signed it: each scheme as its service documents it, and every way to get it wrong."""

import hashlib
import hmac
from dataclasses import replace

import pytest

from daimon.abi.hook import Hook, Scheme
from daimon.gateway.hooks import signature

NOW = 1_800_000_000
BODY = b'{"action":"opened"}'
SECRET = "It's a Secret to Everybody"
SCHEMES: tuple[Scheme, ...] = ("github", "slack", "stripe", "generic")


def hook(scheme: Scheme, tolerance_s: int = 300) -> Hook:
    return Hook(name="x", scheme=scheme, secret="hook-x", tolerance_s=tolerance_s)


def is_signed(which: Hook, given: dict[str, str], body: bytes = BODY, secrets: tuple[str, ...] = (SECRET,), now: float = NOW) -> bool:
    return signature.is_signed(signature.shown(which, given, body), secrets, now, which.tolerance_s)


def test_the_example_of_githubs_own_documentation_is_right() -> None:
    given = {"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}
    assert is_signed(hook("github"), given, b"Hello, World!")


def test_the_example_of_slacks_own_documentation_is_right() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA"
        b"&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885"
        b"554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    given = {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    assert is_signed(hook("slack"), given, body, ("8f742231b10e8888abcd99yyyzzz85a5",), 1531420618)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_the_service_signed_is_let_in(scheme: Scheme) -> None:
    assert is_signed(hook(scheme), signature.sign(hook(scheme), SECRET, BODY, NOW))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_another_body_another_secret_or_none_is_not(scheme: Scheme) -> None:
    given = signature.sign(hook(scheme), SECRET, BODY, NOW)
    assert not is_signed(hook(scheme), given, BODY + b" ")
    assert not is_signed(hook(scheme), given, secrets=("another",))
    assert not is_signed(hook(scheme), given, secrets=())
    assert not is_signed(hook(scheme), {})
    for name in given:
        assert not is_signed(hook(scheme), {**given, name: ""})
        assert not is_signed(hook(scheme), {**given, name: f"{given[name]}, {given[name]}"}) or scheme == "stripe"
        assert not is_signed(hook(scheme), {**given, name: "é" + given[name]})


@pytest.mark.parametrize("scheme", SCHEMES)
def test_while_two_secrets_are_there_both_count(scheme: Scheme) -> None:
    for secret in ("old", "new"):
        assert is_signed(hook(scheme), signature.sign(hook(scheme), secret, BODY, NOW), secrets=("old", "new"))


@pytest.mark.parametrize("scheme", ["slack", "stripe", "generic"])
@pytest.mark.parametrize(("late_s", "is_right"), [(0, True), (299, True), (-299, True), (301, False), (-301, False), (86_400, False)])
def test_an_old_or_future_timestamp_is_refused(scheme: Scheme, late_s: int, is_right: bool) -> None:
    given = signature.sign(hook(scheme), SECRET, BODY, NOW - late_s)
    assert is_signed(hook(scheme), given) is is_right


@pytest.mark.parametrize("scheme", ["slack", "generic"])
@pytest.mark.parametrize("at", ["", "x", "-1", "1e9", "１８００００００００", "9" * 5_000, " 1800000000 1"])
def test_a_timestamp_that_is_none_is_refused(scheme: Scheme, at: str) -> None:
    name = {"slack": "x-slack-request-timestamp", "generic": "x-timestamp"}[scheme]
    assert not is_signed(hook(scheme), {**signature.sign(hook(scheme), SECRET, BODY, NOW), name: at})


def test_stripe_may_show_several_signatures_and_old_schemes_do_not_count() -> None:
    right = hmac.new(SECRET.encode(), b"%d." % NOW + BODY, hashlib.sha256).hexdigest()
    assert is_signed(hook("stripe"), {"stripe-signature": f"t={NOW},v1={'0' * 64},v1={right},v0=ff"})
    assert not is_signed(hook("stripe"), {"stripe-signature": f"t={NOW},v0={right}"})
    assert not is_signed(hook("stripe"), {"stripe-signature": f"t={NOW},t={NOW},v1={right}"})
    assert not is_signed(hook("stripe"), {"stripe-signature": f"t={NOW}," + "v1=00," * 50 + f"v1={right}"})


def test_which_form_of_generic_counts_is_the_hooks_to_say_and_not_the_senders() -> None:
    timed, plain = hook("generic"), hook("generic", 0)
    with_time, without = signature.sign(timed, SECRET, b"5", NOW), signature.sign(plain, SECRET, b"5", NOW)
    assert is_signed(plain, without, b"5")
    assert not is_signed(timed, without, b"5")
    assert not is_signed(plain, with_time, b"5")
    assert not is_signed(replace(timed), {"x-signature": with_time["x-signature"]}, b"%d.5" % NOW)


def test_a_header_that_comes_twice_fits_nothing() -> None:
    given = signature.sign(hook("github"), SECRET, BODY, NOW)
    one = (b"X-Hub-Signature-256", given["x-hub-signature-256"].encode())
    assert is_signed(hook("github"), signature.heads([one]))
    assert not is_signed(hook("github"), signature.heads([one, one]))


def test_the_owner_learns_what_was_wrong_with_a_signature() -> None:
    which = Hook(name="ci", scheme="slack", secret="hook-ci")
    shown = signature.shown(which, signature.sign(which, "s", b"{}", 1_000), b"{}")
    assert signature.fault(signature.shown(which, {}, b"{}"), 1_000, 300) == "no signature, or not in the form of its scheme"
    assert signature.fault(shown, 1_600, 300) == "its timestamp is 600 s old; 300 s are allowed"
    assert signature.fault(shown, 400, 300) == "its timestamp is 600 s ahead; 300 s are allowed"
    assert signature.fault(shown, 1_000, 300) == "the signature does not fit"
