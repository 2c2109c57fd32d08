"""The vault of a home: keys that were in the clear move in, and nothing of a value is left on disk, whatever happens to it."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.vault.rig import values

from daimon import config, keeper
from daimon.abi.errors import BadInput, Misconfigured
from daimon.abi.ids import AgentId
from daimon.machine.home import Home

KEY = "sk-ant-very-secret-4711"
OTHER = "sk-or-very-secret-4712"
SETTINGS = """
[models.far]
vendor = "openrouter"
model = "m"
base_url = "https://llm.example:8443/v1"
key = "open router"
[models.near]
vendor = "vllm"
model = "m"
key = "vault:shared"
[models.env]
vendor = "openai"
model = "m"
key = "env:MY_KEY"
"""
DEADLINE_S = 120


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.ensure()
    return made


def keys(home: Home, text: str) -> None:
    home.keys.touch(mode=0o600)
    home.keys.write_text(text)


def opened(home: Home) -> keeper.Vault:
    return keeper.opened(home, {})


def hosts(vault: keeper.Vault) -> dict[str, tuple[str, ...]]:
    return {entry.name: entry.hosts for entry in vault.entries()}


def test_keys_of_before_move_in_with_the_hosts_that_the_settings_send_them_to(home: Home) -> None:
    home.config.write_text(SETTINGS)
    keys(home, f'[keys]\nanthropic = "{KEY}"\n"open router" = "{OTHER}"\nnobodys = "sk-3"\nempty = ""\n')
    vault = opened(home)
    assert not home.keys.exists()
    assert hosts(vault) == {"anthropic": ("api.anthropic.com",), "open-router": ("llm.example:8443",), "nobodys": ()}
    assert vault.reveal("anthropic", "test", "api.anthropic.com") == KEY
    assert vault.entry("open-router").service == "openrouter"
    assert keeper.referring(config.load(home.config, {}), "open-router") == ("far",)
    assert keeper.referring(config.load(home.config, {}), "shared") == ("near",)


def test_without_keys_of_before_nothing_is_made(home: Home) -> None:
    assert opened(home).entries() == ()
    assert list(home.path.iterdir()) == []


def test_who_has_no_secrets_loads_no_cipher(home: Home) -> None:
    code = """
import sys
from pathlib import Path
from daimon import keeper
from daimon.machine.home import Home
assert keeper.opened(Home(Path(sys.argv[1])), {}).known() == ()
assert "cryptography" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(home.path)], check=True, timeout=DEADLINE_S)


def test_keys_that_are_put_there_again_replace_those_in_the_vault(home: Home) -> None:
    keys(home, f'[keys]\nanthropic = "{KEY}"\n')
    opened(home)
    keys(home, f'[keys]\nanthropic = "{OTHER}"\n')
    assert values(opened(home)) == (OTHER, KEY)


@pytest.mark.parametrize(("step", "is_moved"), [(1, False), (2, False), (3, False), (4, True)])
def test_a_death_while_keys_move_in_loses_none(home: Home, step: int, is_moved: bool) -> None:
    keys(home, f'[keys]\nanthropic = "{KEY}"\nopenai = "{OTHER}"\n')
    code = """
import os, sys
from pathlib import Path
from daimon.machine import files
steps, done = int(sys.argv[2]), 0
def die(event, args):
    global done
    done += event == "os.rename"
    if event in ("os.rename", "os.remove") and (done == steps or (steps == 3 and event == "os.remove" and "keys" in str(args[0]))):
        os._exit(7)
if steps < 4:
    sys.addaudithook(die)
from daimon import keeper
from daimon.machine.home import Home
keeper.opened(Home(Path(sys.argv[1])), {})
"""
    command = [sys.executable, "-c", code, str(home.path), str(step)]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == (0 if is_moved else 7), done.stderr
    assert home.keys.exists() is not is_moved
    assert set(values(opened(home))) == {KEY, OTHER}
    assert not home.keys.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_keys_that_others_may_read_do_not_move_in_until_they_are_closed(home: Home, mode: int) -> None:
    keys(home, f'[keys]\nanthropic = "{KEY}"\n')
    home.keys.chmod(mode)
    with pytest.raises(Misconfigured, match=f"mode {mode:04o}.*chmod 600"):
        opened(home)
    assert not home.vault.exists()
    home.keys.chmod(0o600)
    assert values(opened(home)) == (KEY,)


@pytest.mark.parametrize(
    "text",
    [f'[keys]\na = "{KEY}', f'a = "{KEY}"', f'keys = "{KEY}"', f'[keys]\na = ["{KEY}"]', f"{KEY}\n", f'[keys]\na = "\\u0000{KEY}"'],
)
def test_a_broken_file_is_refused_without_a_word_of_its_contents_and_stays(home: Home, text: str) -> None:
    keys(home, text)
    with pytest.raises(Misconfigured) as told:
        opened(home)
    assert str(home.keys) in str(told.value)
    assert "secret" not in str(told.value)
    assert home.keys.read_text() == text
    assert not home.vault.exists()


def test_names_that_would_become_one_are_told(home: Home) -> None:
    keys(home, f'[keys]\n"a b" = "{KEY}"\n"a-b" = "{OTHER}"\n')
    with pytest.raises(Misconfigured, match="give one of them another name"):
        opened(home)
    assert home.keys.exists()


def test_a_file_of_keys_that_was_a_link_is_told_to_be_there_still(home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (real := tmp_path / "real.toml").touch(mode=0o600)
    real.write_text(f'[keys]\nanthropic = "{KEY}"\n')
    home.keys.symlink_to(real)
    assert values(opened(home)) == (KEY,)
    assert not home.keys.is_symlink()
    assert f"{real} still holds them in the clear" in caplog.text


@pytest.mark.parametrize("key", ["", "  \n", f"{KEY} and more", f"{KEY}\nsecond line", "sk-\u202e1", "k" * 10_000])
def test_what_cannot_be_a_providers_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(BadInput) as told:
        keeper.usable_key(key)
    assert "secret" not in str(told.value)


def test_blanks_around_a_copied_key_do_not_count() -> None:
    assert keeper.usable_key(f"\t{KEY}\n") == KEY


def test_who_must_be_asked_is_known_before_anything_is_opened(home: Home) -> None:
    assert not keeper.needs_passphrase(home, {})
    vault = opened(home)
    vault.add("x", KEY, keeper.Scope())
    assert not keeper.needs_passphrase(home, {})
    vault.seal(keeper.source("passphrase", home, {}, lambda: "correct horse battery"))
    assert keeper.needs_passphrase(home, {})
    assert not keeper.needs_passphrase(home, {"DAIMON_VAULT_PASSPHRASE": "x"})
    with pytest.raises(BadInput):
        keeper.source("paper", home, {}, lambda: None)


def test_no_file_holds_a_value_in_plain_or_in_a_usual_coding_after_a_whole_life(home: Home) -> None:
    keys(home, f'[keys]\nanthropic = "{KEY}"\n')
    vault = opened(home)
    vault.add("github", OTHER, keeper.Scope("GitHub", ("api.github.com",), ("*",)))
    vault.reveal("anthropic", "model:a", "api.anthropic.com")
    placeholder = vault.injections(("github",), AgentId("coder"))[0].placeholder
    vault.rotate("github", third := "ghp_the_third_secret")
    vault.seal(keeper.source("passphrase", home, {}, lambda: "correct horse battery"))
    vault.seal(keeper.source("file", home, {}, lambda: None))
    vault.scope("github", keeper.Scope(hosts=("*.github.com",)))
    vault.forget("github")
    vault.remove("anthropic")
    vault.close()
    files = {file.name: file.read_bytes() for file in home.path.rglob("*")}
    assert files.keys() == {"vault.sealed", "vault.key", "vault.lock", "vault.uses"}
    for value in (KEY, OTHER, third, "correct horse battery"):
        raw = value.encode()
        inner = [base64.b64encode(raw[skip:])[: len(raw) - 4] for skip in range(3)]  # wherever it begins in a longer text
        for coded in (raw, raw.hex().encode(), raw[::-1], *inner):
            assert not [name for name, data in files.items() if coded in data or coded.lower() in data.lower()]
    assert placeholder not in b"".join(files.values())
