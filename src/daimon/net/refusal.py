"""What is said to the box when it does not get through. The text names hosts and rules, never a secret's value."""

from http import HTTPStatus
from typing import Literal

from daimon.abi.errors import BadInput, Denied

Outcome = Literal["passed", "refused", "failed"]


class Malformed(BadInput):
    """Bytes that can be read in two ways, or in none. Who sent them decides what it becomes: 400 from the box, 502 from a host."""


class Refusal(Denied):
    """`status` is what HTTP calls it. Up to 499, and 501, the box was turned away; otherwise the way out failed. `kind` is for those who
    do not speak HTTP with us: `unknown_host`, `tls`, or nothing more than the status says."""

    def __init__(self, status: int, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.kind = kind

    @property
    def outcome(self) -> Outcome:
        return "refused" if self.status < 500 or self.status == HTTPStatus.NOT_IMPLEMENTED else "failed"

    def answer(self) -> bytes:
        """As it goes to the box. The connection ends with it: what follows may be a body that nobody asked for."""
        body = f"daimon: {self.reason}\n".encode("utf-8", "replace")
        head = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode("ascii") + body


def closed(host: str) -> Refusal:
    return Refusal(403, f"{host} is not open to this command. The owner opens a host by naming it in the places of the box's role.")
