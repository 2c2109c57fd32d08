import pytest
from tests.testing.provider.clients import CLIENTS


@pytest.fixture(params=list(CLIENTS))
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["whole", "stream"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)
