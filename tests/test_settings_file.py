import stat
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.config import ModelEntry
from daimon.settings_file import Change, drop_model, edit, put_model, use_models

OPUS = ModelEntry(vendor="anthropic", model="opus", price=config.Price(input=Decimal("0.250"), output=Decimal(15)))
ADD = (use_models(("reflex", "big")), put_model("big", OPUS))
LAYOUTS = {
    "missing": "",
    "comments": "# mine\nextensions = []  # none\n\n[owner] # me\nname = 'A'\n# the end\n",
    "one name": '[model]\nuse = "reflex" # only\n',
    "a list": '[model]\nuse = [\n  "reflex", # always\n  "small", # cheap\n]\n[models.small]\nvendor = "ollama"\nmodel = "s"\n',
    "dotted": 'model.use = "reflex"\nowner.name = "A"\n',
    "inline": 'model = { use = "reflex", seed = 1 }\nmodels = { a = { vendor = "x", model = "y" } }\n',
    "out of order": '[models.a]\nvendor="x"\nmodel="y"\n[budget.day]\ncost=3\n\n[models.b]\nvendor="x"\nmodel="z"\n[kernel]\nslots=2\n',
    "windows": '[owner]\r\nname = "A"\r\n',
    "no last line break": '[owner]\nname = "A" # me',
}


def changed(file: Path, text: str, *changes: Change) -> str:
    if text:
        file.write_bytes(text.encode())
    edit(file, *changes)
    return file.read_bytes().decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "daimon.toml"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_model_is_added_to_any_layout_and_every_old_line_stays(file: Path, layout: str) -> None:
    old = LAYOUTS[layout]
    new = changed(file, old, *ADD)
    settings = config.load(file, {})
    assert settings.model.use == ("reflex", "big")
    assert settings.models["big"] == OPUS
    kept = [
        line.strip() for line in old.splitlines() if line.strip() and "use" not in line and "models =" not in line and "small" not in line
    ]
    assert [line for line in kept if line not in new] == []


def test_a_new_file_is_short_and_for_its_owner(file: Path) -> None:
    assert changed(file, "", *ADD) == (
        '[model]\nuse = ["reflex", "big"]\n\n[models.big]\nvendor = "anthropic"\nmodel = "opus"\nprice = {input = 0.25, output = 15}\n'
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_comments_between_the_names_in_use_stay(file: Path) -> None:
    added = changed(file, LAYOUTS["a list"], put_model("big", OPUS), use_models(("reflex", "big", "small")))
    assert tomllib.loads(added)["model"]["use"] == ["reflex", "big", "small"]
    assert "# always" in added
    assert "# cheap" in added


def test_only_what_is_said_anew_changes_in_an_entry(file: Path) -> None:
    old = '[models.big]\nvendor = "anthropic"\nmodel = "opus"\nbase_url = "http://a"\nthinking = "high"  # slow\n'
    old += "[models.big.price]\ninput = 1\noutput = 2\n"
    again = ModelEntry(vendor="anthropic", model="opus", base_url=None, price="free")
    new = changed(file, old, put_model("big", again))
    assert "# slow" in new
    assert config.load(file, {}).models["big"] == ModelEntry(vendor="anthropic", model="opus", price="free", thinking="high")


@pytest.mark.parametrize("layout", ["inline", "out of order"])
def test_a_model_is_taken_out_and_the_others_stay(file: Path, layout: str) -> None:
    changed(file, LAYOUTS[layout], *ADD)
    edit(file, use_models(("reflex",)), drop_model("big"))
    settings = config.load(file, {})
    assert settings.model.use == ("reflex",)
    assert "big" not in settings.models
    assert "a" in settings.models


def test_the_last_model_leaves_no_empty_table(file: Path) -> None:
    changed(file, '[owner]\nname = "A"\n', put_model("big", OPUS))
    edit(file, drop_model("big"))
    assert tomllib.loads(file.read_text()) == {"owner": {"name": "A"}}


@pytest.mark.parametrize("broken", ["[model\n", "[model]\nues = 1\n", "\udcff"])
def test_a_broken_file_is_refused_with_its_place_and_left_alone(file: Path, broken: str) -> None:
    file.write_bytes(data := broken.encode("utf-8", "surrogateescape"))
    with pytest.raises(Misconfigured, match=r"daimon\.toml"):
        edit(file, *ADD)
    assert file.read_bytes() == data


def test_a_change_that_would_not_load_is_not_made(file: Path) -> None:
    old = '[owner]\nname = "A"\n'
    file.write_text(old)
    with pytest.raises(Misconfigured, match=r"/daimon\.toml: model\.use"):
        edit(file, use_models(()))
    assert file.read_text() == old
    assert list(file.parent.iterdir()) == [file]


def test_the_mode_and_a_link_stay(file: Path) -> None:
    (real := file.with_name("dotfile")).write_text("")
    real.chmod(0o644)
    file.symlink_to(real)
    changed(file, "", *ADD)
    assert file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    assert "big" in real.read_text()


def test_a_place_that_cannot_be_written_is_told(file: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be written"):
        edit(file.parent / "nowhere" / "daimon.toml", *ADD)


def test_a_remark_stands_beside_the_model_on_one_line(file: Path) -> None:
    changed(file, "", put_model("big", OPUS, "answered as\nopus-2"))
    assert 'model = "opus" # answered asopus-2\n' in file.read_text()
    changed(file, LAYOUTS["inline"], put_model("big", OPUS, "no room here"))
    assert config.load(file, {}).models["big"] == OPUS
