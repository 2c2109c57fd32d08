"""How much, and how long. One home for every number of the way out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    connections: int = 128
    """Of one box. Each may have another one to a site, and there are several boxes: see `machine/descriptors.py`."""
    head_bytes: int = 32 * 1024
    headers: int = 100
    head_s: float = 30.0
    """From the first byte of a head to its last."""
    idle_s: float = 120.0
    """Between two bytes, in either direction, and between two requests."""
    resolve_s: float = 10.0
    connect_s: float = 10.0
    """For one address, TCP and TLS each."""
    addresses: int = 4
    """Of a host's addresses so many are tried."""
    answer_s: float = 300.0
    """From the end of a request to the head of its answer."""
    attempts: int = 1_000
    """Kept until somebody asks for them."""
    failures: int = 5
    """In a row, until a host is left alone for a while."""
    rest_s: float = 10.0


BOUNDS = Bounds()
