"""A port for a program that is told which one to take."""

import socket
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

LOWEST, TRIES = 10_000, 100


def free_port() -> int:
    """One that the system gives to nobody by itself: it stays free until it is bound, and while whoever had it is down."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in SystemRandom().sample(range(LOWEST, first_given), TRIES):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"{TRIES} ports between {LOWEST} and {first_given} are taken")
