"""Settings: where they come from, which one counts, and what an error says."""

import os
import re
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.journal.world import said_by

from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.boot.kernel import manner_of
from daimon.kernel.manner import Quiet

NOTHING: dict[str, str] = {}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "daimon.toml"


# -- where settings come from


def test_without_a_file_everything_has_a_default(file: Path) -> None:
    settings = config.load(file, NOTHING)
    assert settings == config.Settings()
    assert (settings.gateway.host, settings.gateway.port, settings.model.use, settings.kernel.newer) == (
        "127.0.0.1",
        None,
        ("reflex",),
        "wait",
    )
    assert (settings.limits.steps, settings.extensions) == (200, ())


def test_an_empty_file_changes_nothing(file: Path) -> None:
    file.write_text("")
    assert config.load(file, NOTHING) == config.Settings()


def test_the_file_stands_above_the_defaults(file: Path) -> None:
    file.write_text('[owner]\nname = "Ann"\n[budget.day]\ncost = 1.5\n[gateway]\nport = 0\n')
    settings = config.load(file, NOTHING)
    assert (settings.owner.name, settings.budget.day.cost, settings.gateway.port) == ("Ann", Decimal("1.5"), 0)
    assert settings.limits.steps == 200


def test_the_environment_stands_above_the_file(file: Path) -> None:
    file.write_text('[owner]\nname = "Ann"\ntimezone = "Europe/Berlin"\n[kernel]\nslots = 2\n')
    settings = config.load(
        file,
        {"DAIMON_OWNER__NAME": "Bob", "DAIMON_KERNEL__SLOTS": "3", "DAIMON_MODEL__TEMPERATURE": "0.5", "DAIMON_BUDGET__DAY__COST": "2"},
    )
    assert (settings.owner.name, settings.owner.timezone) == ("Bob", "Europe/Berlin")
    assert (settings.kernel.slots, settings.model.temperature, settings.budget.day.cost) == (3, 0.5, 2)


@pytest.mark.parametrize("name", ["DAIMON_HOME", "DAIMON_UV", "DAIMON_CHECKOUT", "DAIMON", "DAIMONS_OWNER__NAME", "OWNER__NAME", "PATH"])
def test_variables_that_are_no_settings_are_left_alone(file: Path, name: str) -> None:
    assert config.load(file, {name: "x"}) == config.Settings()


def test_extensions_are_a_list_of_modules(file: Path) -> None:
    file.write_text('extensions = ["my.tools", "my.channels"]\n')
    assert config.load(file, NOTHING).extensions == ("my.tools", "my.channels")


def test_settings_cannot_be_changed_once_read(file: Path) -> None:
    settings = config.load(file, NOTHING)
    with pytest.raises(ValueError, match="frozen"):
        settings.owner.name = "Eve"  # type: ignore[misc]


# -- what is refused

REFUSED: dict[str, tuple[str, str]] = {
    "an unknown key": ("[gateway]\nprot = 1\n", "unknown key 'gateway.prot'; did you mean 'port'?"),
    "an unknown section": ("[gatway]\nport = 1\n", "unknown key 'gatway'; did you mean 'gateway'?"),
    "a key unlike any other": ("[gateway]\nzzz = 1\n", "unknown key 'gateway.zzz'; known are host, port, max_event_bytes"),
    "an unknown key of an agent": ("[agents.a]\nmay_hold = true\n", "unknown key 'agents.a.may_hold'; did you mean 'may_hold_all'?"),
    "a key of an agent unlike any other": (
        "[agents.a]\nzzz = 1\n",
        "unknown key 'agents.a.zzz'; known are role, tools, may_hold_all, description",
    ),
    "a key at the top": ("name = 'Ann'\n", "unknown key 'name'"),
    "a text for a number": ("[kernel]\nslots = 'many'\n", "kernel.slots: Input should be a valid integer"),
    "a number for a text": ("[owner]\nname = 5\n", "owner.name: Input should be a valid string, found 5"),
    "a value for a section": ("owner = 'Ann'\n", "owner: Input should be a table: [owner], with name, timezone"),
    "a value for a section below another": ("[budget]\nday = 5\n", "budget.day: Input should be a table: [budget.day], with tokens, cost"),
    "a section for a value": ("[owner.name]\nfirst = 'Ann'\n", "owner.name: Input should be a valid string"),
    "a text for a list": ("extensions = 'my.tools'\n", "extensions: Input should be a valid"),
    "numbers in a list of texts": ("extensions = [1]\n", "extensions.0: Input should be a valid string"),
    "too few slots": ("[kernel]\nslots = 0\n", "kernel.slots: Input should be greater than or equal to 1, found 0"),
    "a port out of range": ("[gateway]\nport = 65536\n", "gateway.port: Input should be less than or equal to 65535"),
    "a host that others can reach, without an origin": (
        "[gateway]\nhost = '0.0.0.0'\n",
        "gateway: on the host 0.0.0.0 every device of the network can connect; say where the page is opened there, such as origins = ",
    ),
    "a host that is a name": ("[gateway]\nhost = 'localhost'\n", "gateway.host: 'localhost' is no address of this machine such as "),
    "an origin with a path": ("[gateway]\norigins = 'http://a.example/room'\n", "gateway.origins"),
    "an origin that is all": ("[gateway]\norigins = '*'\n", "gateway.origins"),
    "a proxy that is a name": ("[gateway]\ntrusted_proxies = 'proxy'\n", "is no address or network such as "),
    "a tiny limit of bytes": ("[gateway]\nmax_event_bytes = 1\n", "gateway.max_event_bytes: "),
    "a choice that is none": ("[kernel]\nnewer = 'shout'\n", "kernel.newer: Input should be 'wait', 'steer' or 'interrupt', found 'shout'"),
    "a negative time": ("[model]\nfirst_token_s = -1\n", "model.first_token_s: Input should be greater than 0"),
    "no model at all": ("[model]\nuse = []\n", "model.use: "),
    "a price of zero": (
        "[models.a]\nvendor = 'openai'\nmodel = 'm'\nprice = {input = 0, output = 1}\n",
        "models.a.price.input: a price of zero would spend without limit; if the model is really free",
    ),
    "a price that is no price": (
        "[models.a]\nvendor = 'openai'\nmodel = 'm'\nprice = 'cheap'\n",
        "models.a.price: Input should be 'library', 'free' or 'unknown', found 'cheap'",
    ),
    "a negative limit": ("[budget.day]\ncost = -1\n", "budget.day.cost: Input should be greater than or equal to 0"),
    "an unknown limit": ("[budget.week]\ncost = 1\n", "unknown key 'budget.week'"),
    "a share above one": ("[limits]\npause_share = 1.5\n", "limits.pause_share: "),
    "no number at all": ("[limits]\nactive_s = nan\n", "limits.active_s: "),
    "a time zone that is none": ("[owner]\ntimezone = 'Mars/Olympus'\n", "'Mars/Olympus' is not a time zone such as Europe/Berlin"),
    "a time zone that is a continent": ("[owner]\ntimezone = 'Europe'\n", "'Europe' is not a time zone such as Europe/Berlin"),
    "a time zone that is another file": ("[owner]\ntimezone = 'tzdata.zi'\n", "'tzdata.zi' is not a time zone such as Europe/Berlin"),
    "a time zone that is a path": ("[owner]\ntimezone = '../../etc/passwd'\n", "is not a time zone such as Europe/Berlin"),
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_told_with_the_file_the_key_and_what_is_right(file: Path, text: str, sentence: str) -> None:
    file.write_text(text)
    with pytest.raises(Misconfigured) as refused:
        config.load(file, NOTHING)
    assert str(refused.value).startswith(f"{file}: ")
    assert sentence in str(refused.value)


def test_every_mistake_is_told_at_once(file: Path) -> None:
    file.write_text("[owner]\nnam = 'Ann'\n[kernel]\nslots = 0\n")
    with pytest.raises(Misconfigured) as refused:
        config.load(file, NOTHING)
    assert len(str(refused.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"DAIMON_KERNEL__SLOTS": "many"}, "DAIMON_KERNEL__SLOTS: kernel.slots: Input should be a valid integer"),
        ({"DAIMON_OWNER__NAM": "Ann"}, "DAIMON_OWNER__NAM: unknown key 'owner.nam'; did you mean 'name'?"),
        ({"DAIMON_OWNER__NAME__FIRST": "Ann"}, "DAIMON_OWNER__NAME__FIRST: owner.name: Input should be a valid string"),
        ({"DAIMON_OWNR__NAME": "Ann"}, "DAIMON_OWNR__NAME: unknown key 'ownr'; did you mean 'owner'?"),
        ({"DAIMON_GATEWAY__PORT": ""}, "DAIMON_GATEWAY__PORT: gateway.port: "),
        ({"DAIMON_EXTENSIONS__0": "my.tools"}, "DAIMON_EXTENSIONS__0: "),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_a_mistake_in_the_environment_names_the_variable(file: Path, variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        config.load(file, variables)
    assert str(refused.value).startswith(sentence)


def test_a_mistake_in_the_file_is_not_blamed_on_the_environment(file: Path) -> None:
    file.write_text("owner = 'Ann'\n[kernel]\nslots = 0\n")
    with pytest.raises(Misconfigured) as refused:
        config.load(file, {"DAIMON_OWNER__NAME": "Bob", "DAIMON_KERNEL__NEWER": "wait"})
    assert [line.partition(": ")[0] for line in str(refused.value).splitlines()] == [str(file), str(file)]


@pytest.mark.parametrize(
    "text",
    ["[owner\n", "[owner]\nname = Ann\n", "a = 1\na = 2\n", "\0", "\ufeff[owner]\n", pytest.param("a = " + "[" * 20_000, id="nesting")],
)
def test_a_file_that_is_no_toml_is_told_with_the_line(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Misconfigured, match="is not valid TOML: ") as refused:
        config.load(file, NOTHING)
    assert str(file) in str(refused.value)


def test_the_line_of_a_mistake_in_toml_is_told(file: Path) -> None:
    file.write_text("[owner]\nname = 'Ann'\n\ntimezone = Berlin\n")
    with pytest.raises(Misconfigured, match="at line 4"):
        config.load(file, NOTHING)


@pytest.mark.parametrize("data", [b"[owner]\nname = '\xff'\n", "[owner]\n".encode("utf-16")])
def test_a_file_that_is_no_text_is_told_with_the_byte(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(Misconfigured, match=r"is not valid UTF-8: byte \d+"):
        config.load(file, NOTHING)


def test_a_directory_in_place_of_the_file_is_told(file: Path) -> None:
    file.mkdir()
    with pytest.raises(Misconfigured, match="cannot be read: Is a directory"):
        config.load(file, NOTHING)


READ_AS_NOBODY = """
import os, sys
from pathlib import Path
from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.boot.kernel import manner_of

if os.geteuid() == 0:
    os.setuid(65534)
try:
    config.load(Path(sys.argv[1]), {})
except Misconfigured as refused:
    print(refused)
"""


def test_a_file_that_may_not_be_read_is_told(file: Path) -> None:
    file.write_text("[owner]\n")
    file.chmod(0)
    assert said_by(READ_AS_NOBODY, file) == f"{file} cannot be read: Permission denied"


# -- the time zone, the home


def test_the_zone_is_the_owners_or_the_machines(file: Path) -> None:
    file.write_text("[owner]\ntimezone = 'Asia/Tokyo'\n")
    assert config.zone(config.load(file, NOTHING)) == ZoneInfo("Asia/Tokyo")
    assert config.zone(config.Settings()) == ZoneInfo(config.system_zone())


def test_how_people_are_asked_is_set(file: Path) -> None:
    file.write_text('[owner]\ntimezone = "Europe/Vienna"\n[asking]\ntimeout_h = 2\nquiet = "22:00-07:00"\nundo_s = 30\n', encoding="utf-8")
    manner = manner_of(config.load(file, {}))
    assert (manner.timeout, manner.undo, str(manner.zone)) == (timedelta(hours=2), timedelta(seconds=30), "Europe/Vienna")
    assert manner.quiet == Quiet(time(22), time(7))
    usual = manner_of(config.Settings())
    assert (usual.timeout, usual.quiet, usual.undo) == (timedelta(hours=72), None, timedelta())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("timeout_h = 0", "asking.timeout_h: Input should be greater than 0"),
        ('quiet = "at night"', "asking.quiet: 'at night' are no hours such as 22:00-07:00"),
        ('quiet = "07:00-07:00"', "begins and ends at the same time"),
        ("undo_s = -1", "asking.undo_s: Input should be greater than or equal to 0"),
        ("undo_s = 9999", "asking.undo_s: Input should be less than or equal to 3600"),
    ],
)
def test_a_mistake_in_how_people_are_asked_is_told(file: Path, line: str, sentence: str) -> None:
    file.write_text(f"[asking]\n{line}\n", encoding="utf-8")
    with pytest.raises(Misconfigured, match=re.escape(sentence)):
        config.load(file, {})


def test_the_home_is_where_it_was_asked_for(tmp_path: Path) -> None:
    assert config.home_at(tmp_path / "x").path == tmp_path / "x"
    assert config.home_at(Path("relative")).path == Path.cwd() / "relative"
    assert config.home_at(Path("~/x")).path == Path(os.path.expanduser("~/x"))


def test_a_home_that_is_a_file_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no directory")
    with pytest.raises(Misconfigured, match="home is not a directory; choose another with --home"):
        config.load(tmp_path / "home" / "daimon.toml", {})
