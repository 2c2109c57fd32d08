"""Programs of others: a token for one, and the protocol on standard input and output for one that starts a command."""

import asyncio
import os
from pathlib import Path

from daimon import config
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput
from daimon.cli import screen
from daimon.cli.awake import client_of
from daimon.cli.opening import rights_of

TOKEN_VARIABLE = "DAIMON_MCP_TOKEN"
AS_OWNER = (
    "Whoever holds this token speaks as you: Daimon does for it what it does for you. Give it to no agent that reads what others wrote."
)
APPROVES = "It sees what you are being asked, and can say yes in your place."


def token(given: Path | None, name: str, rights: str, as_owner: bool, as_json: bool) -> None:
    from daimon.gateway.mcp.tokens import Token

    wish = {"name": name, "rights": sorted(rights_of(rights)), "as_owner": as_owner}
    made = client_of(config.home_at(given)).ask(Token, "POST", "/v1/clients", encode(dict[str, object], wish))
    if as_json:
        screen.emit(encode(Token, made))
        return
    screen.say(made.token)
    screen.remark(
        f"This is shown once. {name} may {', '.join(sorted(made.device.rights))}; `daimon devices revoke {made.device.id}` ends it."
    )
    screen.remark(f"Over HTTP: {made.urls[0]} with `Authorization: Bearer TOKEN`.")
    screen.remark(f"As a command: `daimon mcp serve` with {TOKEN_VARIABLE} in its environment.")
    for warning in ((AS_OWNER,) if as_owner else ()) + ((APPROVES,) if "approve" in made.device.rights else ()):
        screen.remark(warning, style="yellow")


def serve(given: Path | None, token_file: Path | None) -> None:
    from daimon.gateway.mcp.relay import relay

    secret = os.environ.get(TOKEN_VARIABLE, "") if token_file is None else token_file.read_text(encoding="utf-8")
    if not secret.strip():
        raise BadInput(
            f"there is no token; `daimon mcp token NAME` makes one, put it into {TOKEN_VARIABLE} or name a file with --token-file"
        )
    asyncio.run(relay(config.home_at(given).socket, secret.strip()))
