"""Seven public servers: where they come from, how they are connected, and what a visit to each consists of.

`[mcp.NAME]` is written by the real `daimon mcp add`, so what stands here is what an owner would type. A visit is what the model of the
laboratory does in one turn: it looks for the tools, then makes these calls, one after the other.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

NODE = "everything filesystem memory sequential-thinking"
PYTHON = "mcp-server-git mcp-server-time mcp-server-fetch"
PAGE_HOST = "page.test"
INSTALL_S = 600.0
Calls = tuple[tuple[str, dict[str, JsonValue]], ...]


class Unavailable(Exception):
    """Why the servers cannot be had on this machine."""


@dataclass(frozen=True, slots=True)
class Visit:
    name: str
    options: tuple[str, ...]
    command: tuple[str, ...]
    says: str
    """The owner's words; the first one is the server's name."""
    calls: Calls
    expects: tuple[str, ...]
    """In the result of each call."""


def installed(place: Path) -> None:
    """Both kinds, by the ordinary clients of this machine, once. Raises Unavailable."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Unavailable("node and npm are not on the PATH; four of the servers are written for them")
    packages = [f"@modelcontextprotocol/server-{name}" for name in NODE.split()]
    place.mkdir(parents=True, exist_ok=True)
    if not all((place / "node_modules" / package).is_dir() for package in packages):
        _run("npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *packages)
    python = place / "python/bin/python"
    if not all((place / "python/bin" / name).exists() for name in PYTHON.split()):
        _run(sys.executable, "-m", "venv", str(place / "python"))
        _run(str(python), "-m", "pip", "install", "--quiet", *PYTHON.split())


def versions(place: Path) -> dict[str, str]:
    import json

    found = {}
    for name in NODE.split():
        package = place / "node_modules/@modelcontextprotocol" / f"server-{name}" / "package.json"
        found[name] = str(json.loads(package.read_text())["version"])
    for name in PYTHON.split():
        (about,) = (place / "python").glob(f"lib/*/site-packages/{name.replace('-', '_')}-*.dist-info")
        found[name.removeprefix("mcp-server-")] = about.name.removesuffix(".dist-info").rpartition("-")[2]
    return found


def visits(place: Path, ground: Path) -> tuple[Visit, ...]:
    """`ground`: a directory for what they write; it has a repository, `repo`."""
    files, graph, repo = ground / "files", ground / "graph", ground / "repo"
    return (
        Visit(
            "everything", (), _node(place, "everything"), "everything: say it back, and add up",
            (("echo", {"message": "marmalade"}), ("get_sum", {"a": 19, "b": 23})), ("marmalade", "42"),
        ),
        Visit(
            "filesystem", ("--write", str(files)), (*_node(place, "filesystem"), str(files)), "filesystem: write a note and read it",
            (
                ("write_file", {"path": "/workspace/files/note.txt", "content": "quince"}),
                ("read_text_file", {"path": "/workspace/files/note.txt"}),
            ),
            ("note.txt", "quince"),
        ),
        Visit(
            "memory", ("--write", str(graph), "--env", f"MEMORY_FILE_PATH={graph}/memory.jsonl"), _node(place, "memory"),
            "memory: note down Ada, then look her up",
            (
                ("create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes medlars"]}]}),
                ("search_nodes", {"query": "Ada"}),
            ),
            ("Ada", "medlars"),
        ),
        Visit(
            "sequentialthinking", (), _node(place, "sequential-thinking"), "sequentialthinking: think once",
            (("sequentialthinking", {"thought": "One.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}),),
            ("thoughtHistoryLength",),
        ),
        Visit(
            "git", ("--write", str(repo)), (*_python(place, "git"), "--repository", str(repo)), "git: what is new in the repository",
            (("git_status", {"repo_path": "/workspace/repo"}), ("git_log", {"repo_path": "/workspace/repo", "max_count": 1})),
            ("branch", "Plant a tree"),
        ),
        Visit(
            "time", (), _python(place, "time"), "time: noon in Berlin, in Tokyo",
            (("convert_time", {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}),), ("Asia/Tokyo",),
        ),
        Visit(
            "fetch", ("--host", f"{PAGE_HOST}:80", "--env", f"PATH={place}/python/bin"),  # with node it would install something first
            (*_python(place, "fetch"), "--ignore-robots-txt"),
            f"fetch: read http://{PAGE_HOST}/", (("fetch", {"url": f"http://{PAGE_HOST}/"}),), ("greengage",),
        ),
    )  # fmt: skip


def reads(place: Path) -> tuple[str, ...]:
    """What every box of theirs sees: the servers themselves, and the interpreter that an environment of Python leads to."""
    return ("--read", str(place), "--read", sys.base_prefix)


def _node(place: Path, name: str) -> tuple[str, ...]:
    return ("node", str(place / "node_modules/@modelcontextprotocol" / f"server-{name}" / "dist/index.js"))


def _python(place: Path, name: str) -> tuple[str, ...]:
    return (str(place / "python/bin/python"), "-m", f"mcp_server_{name}")


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise Unavailable(f"{command[0]} failed: {failed}") from failed
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:4])} … failed: {done.stderr.decode(errors='replace')[-400:].strip()}")
