import json

from tests.cli.processes import Daimon


def test_each_setting_says_where_it_comes_from(daimon: Daimon) -> None:
    daimon.configure('extensions = []\n[owner]\nname = "Ada"\n[kernel]\nslots = 2\n')
    daimon.environment["DAIMON_KERNEL__SLOTS"] = "3"

    settings = json.loads(daimon.run("config", "--json").out)["settings"]

    assert settings["owner.name"] == {"value": "Ada", "from": "file"}
    assert settings["kernel.slots"] == {"value": 3, "from": "env"}
    assert settings["model.use"] == {"value": ["reflex"], "from": "default"}
    assert settings["extensions"]["from"] == "file"
    assert "owner.name" in daimon.run("config").out


def test_every_mistake_is_told_with_its_place(daimon: Daimon) -> None:
    daimon.configure('[gateway]\nprot = 1\n[model]\nfirst_token_s = "long"\n')
    for words in (("config",), ("config", "--check"), ("up", "--port", "0")):
        done = daimon.run(*words)
        assert done.code == 78
        assert done.out == ""
        assert "did you mean 'port'" in done.err
        assert "model.first_token_s" in done.err


def test_good_settings_are_called_good_and_missing_ones_default(daimon: Daimon) -> None:
    assert daimon.run("config", "--check").code == 0
    daimon.configure("[kernel]\nslots = 2\n")
    told = json.loads(daimon.run("config", "--check", "--json").out)
    assert told == {"path": str(daimon.home / "daimon.toml"), "ok": True, "warnings": []}
    assert daimon.run("config", "--path").out == f"{daimon.home / 'daimon.toml'}\n"
