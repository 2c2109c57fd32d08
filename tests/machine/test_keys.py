import stat
from pathlib import Path

import pytest

from daimon.abi.errors import BadInput, Misconfigured
from daimon.machine.keys import Keys

SECRET = "sk-very-secret-4711"


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "keys.toml")


def closed(keys: Keys, text: str) -> None:
    keys.path.write_text(text, encoding="utf-8")
    keys.path.chmod(0o600)


def test_a_key_is_found_again_and_the_file_is_for_its_owner_alone(keys: Keys) -> None:
    keys.put("anthropic", SECRET)
    keys.put("open router", "sk-or")
    assert Keys(keys.path).get("anthropic") == SECRET
    assert keys.names() == ("anthropic", "open router")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_without_a_file_there_is_no_key_and_nothing_to_remove(keys: Keys) -> None:
    assert keys.get("anthropic") is None
    keys.remove("anthropic")
    assert not keys.path.exists()


def test_a_removed_key_leaves_the_others_and_the_owners_comments(keys: Keys) -> None:
    closed(keys, f'[keys]\n# of my work\nanthropic = "{SECRET}"\nopenai = "sk-o"  # mine\n')
    keys.remove("anthropic")
    keys.put("google", "g")
    assert keys.path.read_text() == '[keys]\n# of my work\nopenai = "sk-o"  # mine\ngoogle = "g"\n'


def test_a_key_may_stay_in_the_environment(keys: Keys) -> None:
    keys.put("anthropic", SECRET)
    environment = {"MY_KEY": " sk-env\n", "EMPTY": ""}
    assert keys.resolve("env:MY_KEY", environment) == "sk-env"
    assert keys.resolve("anthropic", environment) == SECRET
    assert [keys.resolve(name, environment) for name in ("env:EMPTY", "env:NONE", "openai")] == [None, None, None]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_refused_until_it_is_closed(keys: Keys, mode: int) -> None:
    keys.put("anthropic", SECRET)
    keys.path.chmod(mode)
    for look in (lambda: keys.get("anthropic"), lambda: keys.put("openai", "sk-o")):
        with pytest.raises(Misconfigured, match=f"mode {mode:04o}.*chmod 600"):
            look()
    keys.path.chmod(0o600)
    assert keys.get("anthropic") == SECRET


@pytest.mark.parametrize(
    "text",
    [f'[keys]\nanthropic = "{SECRET}', f'anthropic = "{SECRET}"', f'keys = "{SECRET}"', f'[keys]\na = ["{SECRET}"]', f"{SECRET}\n"],
)
def test_a_broken_file_is_refused_without_a_word_of_its_contents(keys: Keys, text: str) -> None:
    closed(keys, text)
    with pytest.raises(Misconfigured) as told:
        keys.get("anthropic")
    assert str(keys.path) in str(told.value)
    assert "secret" not in str(told.value)
    with pytest.raises(Misconfigured):
        keys.put("openai", "sk-o")
    assert keys.path.read_text() == text


@pytest.mark.parametrize("key", ["", "  \n", f"{SECRET} and more", f"{SECRET}\nsecond line", "sk-\u202e1", "k" * 10_000])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(keys: Keys, key: str) -> None:
    with pytest.raises(BadInput) as told:
        keys.put("anthropic", key)
    assert "secret" not in str(told.value)
    assert not keys.path.exists()


def test_blanks_around_a_copied_key_do_not_count(keys: Keys) -> None:
    keys.put("anthropic", f"\t{SECRET}\n")
    assert keys.get("anthropic") == SECRET


def test_a_key_file_that_is_a_link_stays_one(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    keys.path.symlink_to(tmp_path / "safe" / "keys")
    keys.put("anthropic", SECRET)
    assert keys.path.is_symlink()
    assert Keys(tmp_path / "safe" / "keys").get("anthropic") == SECRET
