"""Our reading of the protocols against a server that others wrote: aimock (`scripts/aimock` brings it; skipped without it).

Google is not among them: its library asks for other paths than aimock serves.
"""

from pathlib import Path

import pytest
from tests.models.serving import SEARCH, Shelf, endpoint
from tests.testing.provider.test_aimock import AIMOCK, LINES, NODE, aimock

from daimon.abi.label import owned
from daimon.abi.message import Reasoning, Role, Text, ToolCall, said
from daimon.abi.model import Delta, Reply, Request
from daimon.models.provider import ProviderModel

pytestmark = pytest.mark.skipif(not (NODE and AIMOCK.exists()), reason="aimock is not installed; scripts/aimock brings it")


@pytest.mark.parametrize("vendor", ["openai", "compatible", "deepseek", "anthropic"])
@pytest.mark.parametrize("name", LINES)
async def test_what_aimock_says_is_understood(vendor: str, name: str, tmp_path: Path) -> None:
    line = LINES[name]
    async with aimock(tmp_path) as url:
        model = ProviderModel(endpoint(url, vendor), Shelf())
        try:
            pieces = [piece async for piece in model.stream(Request((said(Role.USER, name, owned("test")),), (SEARCH,)))]
        finally:
            await model.close()
    reply = pieces[-1]
    assert isinstance(reply, Reply)
    assert "".join(part.text for part in reply.parts if isinstance(part, Text)) == line.text
    assert [(part.tool, part.arguments) for part in reply.parts if isinstance(part, ToolCall)] == [
        (call.tool, call.arguments) for call in line.calls
    ]
    assert reply.finish == ("tools" if line.calls else "stop")
    assert "".join(piece.text for piece in pieces if isinstance(piece, Delta) and piece.of == "text") == line.text
    if line.reasoning and vendor in ("compatible", "deepseek", "anthropic"):
        assert [part.text for part in reply.parts if isinstance(part, Reasoning)] == [line.reasoning]
