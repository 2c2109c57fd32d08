"""A web site of somebody else's, on this machine: it serves what a test gives it, and remembers what it was asked for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Site:
    port: int
    page: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Paths, with the headers that came along."""

    def at(self, host: str) -> str:
        return f"http://{host}:{self.port}"


@contextmanager
def site() -> Iterator[Site]:
    made = Site(0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            body = made.page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, name="foreign")
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
