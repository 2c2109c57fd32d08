"""The owner's policy files, and a copy of them as they last were without fault.

    policy/*.cedar         what the owner writes
    policy/tests/*.toml    what the owner expects of it
    policy.good.json       the texts by file name, replaced as a whole

It knows nothing of what is in them.
"""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from daimon.abi.errors import Misconfigured
from daimon.machine import files
from daimon.machine.home import Home

Texts = dict[str, str]
_TEXTS = TypeAdapter(Texts)
MOST_BYTES = 1_000_000


def texts_in(home: Home) -> Texts:
    """Raises Misconfigured for a file that cannot be read."""
    return texts_of(sorted(home.policies.glob("*.cedar")))


def tests_in(home: Home) -> Texts:
    return texts_of(sorted((home.policies / "tests").glob("*.toml")))


def texts_of(paths: list[Path]) -> Texts:
    return {str(path): _text(path) for path in paths}


def kept(home: Home) -> Texts | None:
    """The last good texts; None if there are none, or nobody can read them."""
    try:
        return _TEXTS.validate_json(home.good_policies.read_bytes())
    except (OSError, ValidationError):
        return None


def keep(home: Home, texts: Texts) -> None:
    """Raises Misconfigured."""
    before = kept(home)
    if texts == before or (before is None and not texts):
        return
    try:
        files.replace(home.good_policies, _TEXTS.dump_json(texts), 0o600)
    except OSError as error:
        raise Misconfigured(f"{home.good_policies} cannot be written: {error.strerror}") from None


def write(home: Home, name: str, text: str) -> None:
    """Puts a file in its place as a whole. Raises Misconfigured."""
    try:
        home.policies.mkdir(mode=0o700, exist_ok=True)
        files.replace(home.policies / name, text.encode("utf-8"), 0o600)
    except OSError as error:
        raise Misconfigured(f"{home.policies / name} cannot be written: {error.strerror}") from None


def remove(home: Home, name: str) -> None:
    """Raises Misconfigured."""
    try:
        (home.policies / name).unlink(missing_ok=True)
    except OSError as error:
        raise Misconfigured(f"{home.policies / name} cannot be removed: {error.strerror}") from None


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise Misconfigured(f"{path} has {len(data):,} bytes, at most {MOST_BYTES:,} are read; split it")
        return data.decode("utf-8")
    except UnicodeDecodeError as bad:
        raise Misconfigured(f"{path} is not valid UTF-8: byte {bad.start}") from None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
