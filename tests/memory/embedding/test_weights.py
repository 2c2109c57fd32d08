"""The weights are found without running anything of their package, and are what they should be."""

import shutil
import sys
from pathlib import Path

import pytest
from tests.memory.embedding.models import needs_model

from daimon.abi.errors import Misconfigured
from daimon.memory.embedding.weights import PACKAGE, Weights


@pytest.fixture
def copied(tmp_path: Path) -> Weights:
    found = Weights.find()
    assert found
    shutil.copytree(found.folder, tmp_path / "model")
    return Weights(tmp_path / "model")


@needs_model
def test_the_right_files_pass_and_no_code_of_the_package_runs() -> None:
    found = Weights.find()
    assert found
    assert found.check() == found.stamp
    assert PACKAGE not in sys.modules


@needs_model
def test_one_changed_byte_is_noticed_and_said(copied: Weights) -> None:
    known = copied.check()
    with (copied.folder / "model.safetensors").open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x01")
    with pytest.raises(Misconfigured, match=r"model\.safetensors is not the file that it should be"):
        copied.check(known)


@needs_model
def test_a_file_that_was_looked_over_is_not_looked_over_again_while_it_stays_the_same(copied: Weights) -> None:
    with (copied.folder / "vocab.txt").open("a") as file:
        file.write("more\n")
    assert copied.check(copied.stamp) == copied.stamp
    with pytest.raises(Misconfigured):
        copied.check()


def test_missing_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be read: No such file"):
        Weights(tmp_path).check()
