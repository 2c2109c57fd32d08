"""What an extension may add, and how a broken one is told to the operator."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daimon import extension
from daimon.abi.errors import Misconfigured

GOOD = """
from daimon.testing.channel import FakeChannel
from daimon.testing.model import ScriptedModel
from daimon.tools.clock import clock_tools

def extend(kit):
    kit.tools.extend(clock_tools("UTC"))
    kit.models["scripted"] = ScriptedModel()
    kit.channels.append(FakeChannel("pigeon"))
"""


@pytest.fixture
def modules(tmp_path: Path) -> Iterator[Path]:
    """A directory on the import path."""
    before = set(sys.modules)
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_without_extensions_there_is_nothing_more() -> None:
    kit = extension.load([])
    assert (kit.tools, kit.models, kit.channels) == ([], {}, [])


def test_an_extension_adds_a_tool_a_model_and_a_channel(modules: Path) -> None:
    (modules / "good_one.py").write_text(GOOD)
    kit = extension.load(["good_one"])
    assert [tool.manifest.name for tool in kit.tools] == ["now"]
    assert list(kit.models) == ["scripted"]
    assert [channel.name for channel in kit.channels] == ["pigeon"]


def test_extensions_add_up_in_their_order(modules: Path) -> None:
    for name in ("first_one", "second_one"):
        (modules / f"{name}.py").write_text(
            f"from daimon.testing.channel import FakeChannel\ndef extend(kit): kit.channels.append(FakeChannel('{name}'))\n"
        )
    assert [channel.name for channel in extension.load(["second_one", "first_one"]).channels] == ["second_one", "first_one"]


def test_an_extension_inside_a_package_is_found(modules: Path) -> None:
    (modules / "a_package").mkdir()
    (modules / "a_package" / "inner.py").write_text(GOOD)
    assert list(extension.load(["a_package.inner"]).models) == ["scripted"]


@pytest.mark.parametrize("name", ["no_such_module", "os.no_such_part", "daimon.no.such"])
def test_a_missing_module_is_told_with_the_setting_that_names_it(name: str) -> None:
    with pytest.raises(Misconfigured, match=r"\(extensions in daimon.toml\) cannot be imported: No module named") as refused:
        extension.load([name])
    assert repr(name) in str(refused.value)


def test_a_module_that_is_nowhere_is_told_with_what_to_do(modules: Path) -> None:
    with pytest.raises(Misconfigured, match="PYTHONPATH must name the directory"):
        extension.load(["no_such_module"])
    (modules / "half.py").write_text("import no_such_thing_at_all\n")
    with pytest.raises(Misconfigured) as refused:
        extension.load(["half"])
    assert "PYTHONPATH" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "extend = 5\n", "def extended(kit): pass\n"])
def test_a_module_without_extend_is_told(modules: Path, text: str) -> None:
    (modules / "not_one.py").write_text(text)
    with pytest.raises(Misconfigured, match=r"'not_one' has no function `extend\(kit\)`"):
        extension.load(["not_one"])


BROKEN = {
    "an import that fails": "import no_such_thing_at_all\n",
    "a syntax error": "def extend(kit:\n",
    "an error at import": "1 / 0\n",
    "an error in extend": "def extend(kit): 1 / 0\n",
    "an extend of another shape": "def extend(): pass\n",
    "broken text": "x = '\x00'\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_module_is_told_with_its_name_and_its_error(modules: Path, text: str) -> None:
    (modules / "broken_one.py").write_text(text)
    with pytest.raises(Misconfigured, match="'broken_one'"):
        extension.load(["broken_one"])


@pytest.mark.parametrize("name", ["", ".", ".relative", "a..b", "with space", "daimon/boot"])
def test_what_is_no_name_of_a_module_is_told(name: str) -> None:
    with pytest.raises(Misconfigured, match="cannot be imported"):
        extension.load([name])
