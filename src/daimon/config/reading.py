"""From the file and the environment to the settings. What is wrong with them is told all at once, by `wrong.py`."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from daimon.abi.errors import Misconfigured
from daimon.config.environment import merged, overrides_in
from daimon.config.tree import Settings
from daimon.config.wrong import explained
from daimon.homes import Home


def settings_of(home: Home) -> Settings:
    return load(home.config, os.environ)


def load(file: Path, environment: Mapping[str, str]) -> Settings:
    tree = _read(file)
    overrides = overrides_in(environment)
    try:
        return Settings.model_validate(merged(tree, overrides))
    except ValidationError as bad:
        own = {section: keys for section, keys in overrides.items() if isinstance(tree.get(section, {}), dict)}
        lines = [explained(error, file, own) for error in bad.errors(include_url=False)]
        raise Misconfigured("\n".join(lines)) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise Misconfigured(f"the home {file.parent} is not a directory; choose another with --home") from None
    except tomllib.TOMLDecodeError as bad:
        raise Misconfigured(f"{file} is not valid TOML: {bad}") from None
    except RecursionError:
        raise Misconfigured(f"{file} is not valid TOML: it is nested too deep") from None
    except UnicodeDecodeError as bad:
        raise Misconfigured(f"{file} is not valid UTF-8: byte {bad.start}") from None
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}") from None
