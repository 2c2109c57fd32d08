import pytest
from hypothesis import settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("daimon", deadline=None)
settings.load_profile("daimon")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
