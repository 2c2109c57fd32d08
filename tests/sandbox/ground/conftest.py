import os
from pathlib import Path

import pytest
from tests.sandbox.boxes import NOBODY
from tests.sandbox.ground.grounds import Layers, made


@pytest.fixture(params=["own", "another's"])
def layers(request: pytest.FixtureRequest, tmp_path: Path) -> Layers:
    if request.param == "own":
        return made(tmp_path)
    if os.getuid() != 0:
        pytest.skip("only root can open a workspace that belongs to somebody else")
    return made(tmp_path, NOBODY)


@pytest.fixture
def own(tmp_path: Path) -> Layers:
    return made(tmp_path)
