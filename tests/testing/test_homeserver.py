"""One homeserver for all who name a directory, with a program in synapse's place that answers when it is told to."""

import fcntl
import sys
from pathlib import Path

from daimon.testing.matrix.homeserver import homeserver

SERVER = """
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

settings = Path(sys.argv[-1])
place = settings.parent


class Versions(BaseHTTPRequestHandler):
    def do_GET(self):
        while (place / "mute").exists():
            threading.Event().wait(60)
        self.send_response(200)
        self.end_headers()


with (place / "starts").open("a") as starts:
    starts.write("once\\n")
ThreadingHTTPServer(("127.0.0.1", json.loads(settings.read_text())["listeners"][0]["port"]), Versions).serve_forever()
"""


def program(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "server.py"} "$@"\n')
    python.chmod(0o755)
    return python


def test_one_that_takes_long_to_answer_is_joined_and_not_started_again(tmp_path: Path) -> None:
    python, place = program(tmp_path), tmp_path / "synapse"
    with homeserver(python, place) as first:
        (place / "mute").touch()
        with homeserver(python, place) as second:
            assert second == first
    assert (place / "starts").read_text() == "once\n"


def test_when_nobody_is_left_it_ends_and_the_next_one_has_its_own(tmp_path: Path) -> None:
    python, place = program(tmp_path), tmp_path / "synapse"
    urls = []
    for _ in range(2):
        with homeserver(python, place) as server:
            urls.append(server.url)
        with (place / "kept").open() as kept:
            fcntl.flock(kept, fcntl.LOCK_SH)  # the keeper lets go of it when the server is dead
    assert urls[0] != urls[1]
    assert (place / "starts").read_text() == "once\nonce\n"
