"""Repositories below a directory over HTTP on loopback, by git's own backend."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DEADLINE_S = 60


@contextmanager
def serving(top: Path) -> Iterator[int]:
    """Gives the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            path = path.removeprefix("http://").removeprefix(f"{self.headers['Host']}") or path
            environment = {
                **os.environ, "GIT_PROJECT_ROOT": str(top), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            }  # fmt: skip
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            done = subprocess.run(
                ["git", "http-backend"], input=body, env=environment, capture_output=True, timeout=DEADLINE_S, check=False
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(DEADLINE_S)


def git(where: Path, *words: str) -> str:
    known = {
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x.test", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x.test",
        "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": os.environ["PATH"],
    }  # fmt: skip
    done = subprocess.run(["git", *words], cwd=where, env=known, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    return done.stdout.strip()


def committed(where: Path) -> str:
    """All that lies there, as a commit of the repository there; its id."""
    if not (where / ".git").exists():
        git(where, "init", "-q", "-b", "main")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "x")
    return git(where, "rev-parse", "HEAD")
