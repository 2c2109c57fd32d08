"""What is shaped like a secret goes; what only looks a little like one stays, byte for byte.

The secrets here are made by chance when the tests run: none is anybody's, and none stands in this file.
"""

import base64
import json
import random
import string
from pathlib import Path

import pytest
from benchmarks.lab.redaction import false_alarms

from daimon.vault import shapes

CHANCE = random.Random(11)
WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
ROOT = Path(__file__).parents[2]


def some(size: int, of: str = WORD) -> str:
    return "".join(CHANCE.choices(of, k=size))


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def pem(kind: str, lines: int = 12) -> str:
    body = "\n".join(some(64, WORD + "+/") for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


AWS = some(39, WORD + "+/") + "9"
SECRETS = {
    "api-key": [
        f"sk-ant-api03-{some(90)}-{some(6)}AA",
        f"sk-proj-{some(60)}",
        f"sk-{some(48)}",
        f"sk-or-v1-{some(64, HEX)}",
    ],
    "github-token": [f"ghp_{some(36)}", f"gho_{some(36)}", f"ghs_{some(36)}", f"github_pat_{some(22)}_{some(59)}"],
    "gitlab-token": [f"glpat-{some(19)}7"],
    "aws-key": [f"AKIA{some(16, 'BCDFGHJK234567')}", f"ASIA{some(16, 'BCDFGHJK234567')}"],
    "slack-token": [
        f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
        f"xoxp-{some(12, string.digits)}-{some(24)}",
        f"xapp-1-{some(11)}-{some(13, string.digits)}-{some(64, HEX)}",
    ],
    "google-key": [f"AIza{some(35)}", f"ya29.{some(60)}"],
    "npm-token": [f"npm_{some(36)}"],
    "pypi-token": [f"pypi-AgEI{some(120)}"],
    "sendgrid-key": [f"SG.{some(22)}.{some(43)}"],
    "huggingface-token": [f"hf_{some(34)}"],
    "docker-token": [f"dckr_pat_{some(27)}"],
    "shopify-token": [f"shpat_{some(32, HEX)}"],
    "stripe-key": [f"sk_live_{some(24)}", f"rk_live_{some(99)}"],
    "webhook-secret": [f"whsec_{some(32)}"],
    "twilio-key": [f"SK{some(32, HEX)}"],
    "telegram-token": [f"{some(9, '123456789')}:AA{some(33)}"],
    "jwt": [f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': 'ann', 'n': 7})}.{some(43)}"],
    "private-key": [
        pem("PRIVATE KEY"),
        pem("RSA PRIVATE KEY"),
        pem("OPENSSH PRIVATE KEY"),
        pem("ENCRYPTED PRIVATE KEY"),
        pem("PGP PRIVATE KEY BLOCK"),
        pem("PRIVATE KEY").replace("\n", "\\n"),
        pem("EC PRIVATE KEY")[:300],
    ],
}


@pytest.mark.parametrize(("kind", "secret"), [(kind, secret) for kind, all_ in SECRETS.items() for secret in all_], ids=lambda _: "")
def test_a_secret_of_a_known_shape_goes_and_its_neighbours_stay(kind: str, secret: str) -> None:
    for before, after in (("use ", " now"), ('{"it": "', '"}'), ("export IT=", "\n"), ("(", ")"), ("", ""), ('"line\\n', '\\n"')):
        if kind == "private-key" and not secret.endswith("-----"):
            after = after and "\x00"  # a block that was cut has no end of its own
        assert shapes.without(f"{before}{secret}{after}") == f"{before}[redacted {kind}]{after}"


PASSWORD = f"{some(5)}7x{some(6)}3"
IN_CONTEXT = [
    ("postgresql://app:{}@db.example.org:5432/shop", PASSWORD, "password"),
    ("redis://:{}@localhost", PASSWORD, "password"),
    ("https://ann:{}@git.example.org/it.git", PASSWORD, "password"),
    ('password = "{}"', PASSWORD, "password"),
    ("DB_PASSWORD={}\n", PASSWORD, "password"),
    ('{{"client_secret": "{}"}}', PASSWORD, "password"),
    ('{{\\"api_key\\": \\"{}\\"}}', PASSWORD, "password"),
    ("api-key: {}", PASSWORD, "password"),
    ("aws_secret_access_key = {}", AWS, "password"),
    ("Authorization: Bearer {}", some(40), "authorization"),
    ("curl -H 'authorization: bearer {}' https://x", some(40), "authorization"),
    ("Authorization: Basic {}", base64.b64encode(f"ann:{some(14)}".encode()).decode(), "authorization"),
    ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core", some(86, WORD + "+/") + "==", "storage-key"),
]


@pytest.mark.parametrize(("frame", "secret", "kind"), IN_CONTEXT, ids=lambda _: "")
def test_a_secret_that_its_context_shows_goes_alone(frame: str, secret: str, kind: str) -> None:
    assert shapes.without(frame.format(secret)) == frame.format(f"[redacted {kind}]")


def test_the_secret_beside_an_id_of_aws_goes_too() -> None:
    id_ = f"AKIA{some(16, 'BCDFGHJK234567')}"
    assert shapes.without(f"{id_},{AWS}\n") == "[redacted aws-key],[redacted aws-secret]\n"


ORDINARY = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id 550e8400-e29b-41d4-a716-446655440000, token = 550e8400-e29b-41d4-a716-446655440000",
    f"    --hash=sha256:{some(64, HEX)} \\",
    f'<script src="/app.js" integrity="sha512-{some(86, WORD + "+/")}==" crossorigin></script>',
    f"![](data:image/png;base64,{some(400, WORD + '+/')})",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{some(44, WORD + '+/')} ann@example.org",
    pem("CERTIFICATE"),
    pem("PUBLIC KEY"),
    "-----BEGIN PRIVATE KEY----- is how it begins, and -----END PRIVATE KEY----- how it ends",
    "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    'password = "<your-password>"; token = "xxxxxxxxxxxxxxxx"; secret: changeme; api_key = "YOUR_API_KEY_2024a"',
    'password = os.environ["DB_PASSWORD"]; PASSWORD=$DB_PASS1; token: ${TOKEN_2}; secret={{ vault.key9 }}',
    "token = self._tokens.next_token2(); password_hash = hash_password(given1); if token == other.token3:",
    'max_tokens = 4096; token_type = "bearer"; "next_token": "eyJOZXh0VG9rZW4iOiBudWxsfQ=="',
    "postgres://user:password@localhost/db, https://host:8443/a@b, mailto:ann@example.org, ssh://git@github.com:22/x",
    "https://example.org/posts/why-i-left-2024-06-11-3f9a1c/?ref=a8Xk2&utm_source=Zq91",
    "/usr/lib/python3.11/site-packages/some_package-1.2.3.dist-info/METADATA",
    "test_a_very_long_identifier_that_says_what_it_is_about_and_ends_with_2",
    "sk-loading-indicator-wrapper task-force-2024-planning-meeting risk-adjusted-return-on-capital-2",
    '!function(e,t){var n=e[0]||t;for(var r=0;r<n.length;r++)n[r]^=0x5f}(window.a1b2c3,"d4e5f6");',
    ".a1b2c3 { background: #f0f1f2 url(img/x7.png); grid-template-areas: 'a b' 'c d' }",
    "Basic authorization of a bearer is explained in chapter 4; the bearer authentication2framework is not.",
    "Das Passwort: bitte ändern. Le mot de passe : à changer. Пароль: смените его. パスワード:変更してください",
    "t:01JC4Q8Z7M3N5P6R8S9T0V1W2X.4 e:01JC4Q8Z7M3N5P6R8S9T0V1W2Y h:01JC4Q8Z7M3N5P6R8S9T0V1W2X.4.1",
    "[secret github] [redacted api-key] password = [secret db] Authorization: Bearer [redacted jwt]",
]


@pytest.mark.parametrize("text", ORDINARY, ids=lambda _: "")
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert shapes.without(text) == text


def test_our_own_sources_and_pages_hold_nothing_that_looks_like_a_secret() -> None:
    lines, alarms, where = false_alarms([ROOT / "src", ROOT / "docs", *ROOT.glob("requirements*.lock")])
    assert lines > 10_000
    assert not alarms, where


def test_the_count_of_alarms_finds_a_planted_secret(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"one\ntwo ghp_{some(36)}\nthree\n")
    lines, alarms, where = false_alarms([tmp_path])
    assert (lines, alarms, where[0].line, where[0].kind) == (4, 1, 2, "github-token")
