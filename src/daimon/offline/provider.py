"""A language-model server on loopback that answers by a script, for developers: a model without a network."""

from collections.abc import Callable
from pathlib import Path

from daimon.testing.provider.server import serve


async def provider(script: Path | None, port: int, say: Callable[[str], None]) -> None:
    """Runs until cancelled."""
    await serve(script, port, say)
