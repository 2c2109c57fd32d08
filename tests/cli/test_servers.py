"""`daimon mcp`, as its owner uses it: a real server in a box, real files, a running gateway where one is needed."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.cli.processes import Daimon, finish, read_line
from tests.mcp.oauth.rig import knock

from daimon.sandbox.plan import has_bwrap
from daimon.testing.oauth import Service

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
CODE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("sample")

@server.tool()
def add(a: int, b: int) -> int:
    "Adds two whole numbers.\\x1b[31m"
    return a + b

server.run("stdio")
"""
OFFERED = ["sample_add", "sample_prompts", "sample_resources"]
pytestmark = pytest.mark.skipif(not has_bwrap(), reason="no bubblewrap on this machine, so no box for a server")


def sample(place: Path, name: str = "sample") -> tuple[str, ...]:
    (place / "servers" / name).mkdir(parents=True, exist_ok=True)
    program = place / "servers" / name / "server.py"
    program.write_text(CODE)
    return ("mcp", "add", name, "--read", sys.prefix, "--write", str(program.parent), "--", f"{sys.prefix}/bin/python", str(program))


def test_a_server_is_added_shown_tested_switched_and_removed_without_a_gateway(daimon: Daimon, tmp_path: Path) -> None:
    words = sample(tmp_path)
    done = daimon.run(*words[:3], "--yes", *words[3:])
    assert done.code == 0, done.err
    assert "sends to others" in done.out
    assert "3 tools may be used" in done.out
    assert "\x1b[31m" not in done.out
    (row,) = json.loads(daimon.run("mcp", "list", "--json").out)["servers"]
    assert (row["name"], row["tools"], row["waiting"], row["state"]) == ("sample", OFFERED, [], "idle")
    tested = json.loads(daimon.run("mcp", "test", "sample", "--json").out)
    assert tested["status"]["version"]
    assert tested["took_ms"] > 0
    assert daimon.run("mcp", "off", "sample").code == 0
    assert json.loads(daimon.run("mcp", "show", "sample", "--json").out)["status"]["state"] == "off"
    assert daimon.run("mcp", "on", "sample").code == 0
    assert "Adds two whole numbers." in daimon.run("mcp", "show", "sample").out
    gone = daimon.run("mcp", "remove", "sample")
    assert "forget --source mcp:sample" in gone.err
    assert json.loads(daimon.run("mcp", "list", "--json").out)["servers"] == []
    assert not (daimon.home / "mcp" / "sample.json").exists()
    assert "mcp" not in (daimon.home / "daimon.toml").read_text()


def test_nobody_at_the_terminal_agrees_to_nothing_and_what_cannot_start_is_not_added(daimon: Daimon, tmp_path: Path) -> None:
    assert "they wait" in daimon.run(*sample(tmp_path)).err
    (row,) = json.loads(daimon.run("mcp", "list", "--json").out)["servers"]
    assert (row["tools"], row["waiting"]) == ([], ["add", "its prompts", "its resources"])
    assert json.loads(daimon.run("mcp", "approve", "sample", "--json").out)["status"]["tools"] == OFFERED
    broken = daimon.run("mcp", "add", "broken", "--yes", "--", "/usr/bin/false")
    assert broken.code != 0
    assert [each["name"] for each in json.loads(daimon.run("mcp", "list", "--json").out)["servers"]] == ["sample"]
    assert daimon.run("mcp", "add", "Bad-Name", "--", "true").code == 4
    assert daimon.run("mcp", "add", "both", "--url", "https://x.test", "--", "true").code != 0
    assert daimon.run("mcp", "remove", "nothing").code == 3
    missing = daimon.run("mcp", "add", "other", "--secret", "KEY=nothere", "--", "true")
    assert "the vault has no secret nothere" in missing.err


def test_servers_of_another_client_are_taken_over_and_their_secrets_go_into_the_vault(daimon: Daimon, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    servers = {
        "git-hub": {"command": "npx", "args": ["-y", "server"], "env": {"GITHUB_TOKEN": TOKEN, "LEVEL": "debug"}},
        "Web": {"url": "https://mcp.test/mcp", "headers": {"Authorization": f"Bearer {TOKEN}x"}},
        "asks": {"command": "run", "env": {"KEY": "${input:key}"}},
        "leaks": {"command": "run", "args": ["--token", TOKEN]},
        "odd": {"type": "stdio"},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    assert daimon.run("mcp", "import", str(file)).code == 4
    done = daimon.run("mcp", "import", str(file), "--yes", "--json")
    told = json.loads(done.out)
    assert (told["added"], sorted(told["left_out"])) == (["github", "web"], ["asks", "leaks", "odd"])
    assert "whenever it starts" in told["notes"]["github"][0]
    settings = (daimon.home / "daimon.toml").read_text()
    assert TOKEN not in settings + done.out + done.err
    assert "{vault:mcp-github-github_token}" in settings
    assert 'LEVEL = "debug"' in settings
    rows = {row["name"]: row["hosts"] for row in json.loads(daimon.run("secrets", "list", "--json").out)["secrets"]}
    assert rows == {"mcp-github-github_token": [], "mcp-web-authorization": ["mcp.test"]}
    again = json.loads(daimon.run("mcp", "import", str(file), "--yes", "--json").out)
    assert again["added"] == []


def test_a_running_gateway_has_a_server_as_soon_as_it_is_added(daimon: Daimon, tmp_path: Path) -> None:
    daimon.up()
    words = sample(tmp_path)
    done = daimon.run(*words[:3], "--yes", *words[3:])
    assert done.code == 0, done.err
    assert "the running gateway has it" in done.err
    found = json.loads(daimon.run("mcp", "show", "sample", "--json").out)
    assert found["status"]["tools"] == OFFERED
    assert daimon.run("mcp", "remove", "sample").code == 0
    assert json.loads(daimon.run("mcp", "list", "--json").out)["servers"] == []


async def test_the_owner_signs_in_at_the_terminal_and_out_again(daimon: Daimon) -> None:
    async with Service() as service:
        service.server, service.issuer = f"http://mcp.test:{service.port}/mcp", f"http://mcp.test:{service.port}"
        daimon.configure(f'[network.local]\n"mcp.test" = "127.0.0.1:{service.port}"\n[mcp.notes]\nurl = "{service.server}"\n')
        process = daimon.start("mcp", "login", "notes", "--json")
        line = await asyncio.to_thread(read_line, process)
        assert line, (await asyncio.to_thread(finish, process)).err
        begun = json.loads(line)
        assert begun["host"] == f"mcp.test:{service.port}"
        assert " 200 " in await knock(service.visit(begun["open"]))
        done = json.loads(await asyncio.to_thread(read_line, process))
        assert (done["signed_in"], done["issuer"]) == (True, service.issuer)
        assert (await asyncio.to_thread(finish, process)).code == 0
        (token,) = service.good
        secrets = await asyncio.to_thread(daimon.run, "secrets", "list", "--json")
        assert {row["name"] for row in json.loads(secrets.out)["secrets"]} == {"mcp-notes-token", "mcp-notes-refresh"}
        assert "oauth = true" in (daimon.home / "daimon.toml").read_text()
        out = json.loads((await asyncio.to_thread(daimon.run, "mcp", "logout", "notes", "--json")).out)
        assert (out["signed_out"], out["revoked_there"]) == (True, True)
        assert token not in secrets.out + str(out) + str(begun) + str(done)
