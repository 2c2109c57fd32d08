"""The parts of the way in, put together."""

import socket
from ipaddress import ip_address

from daimon.abi.access import Access
from daimon.abi.ports import Clock, Ids, Random
from daimon.gateway.access.acts import Acts
from daimon.gateway.access.attempts import Attempts
from daimon.gateway.access.entrance import Entrance
from daimon.gateway.access.front import FrontDoor, Rules, TokenDoor
from daimon.gateway.access.places import written
from daimon.gateway.access.routes import AccessRoutes
from daimon.gateway.access.sessions import Sessions


async def ways_in(access: Access, clock: Clock, ids: Ids, random: Random, origins: tuple[str, ...]) -> AccessRoutes:
    """`origins`: under which the page is reached, the nearest first."""
    await (sessions := Sessions(access, clock, ids)).load()
    acts = Acts(access, clock)
    return AccessRoutes(Entrance(access, sessions, Attempts(clock), acts, clock, random), acts, origins)


def front_door(token: str, ways: AccessRoutes, rules: Rules) -> FrontDoor:
    return FrontDoor(TokenDoor(token, rules.public_url), ways.entrance, rules)


def reached_as(sock: socket.socket, origins: tuple[str, ...]) -> tuple[str, ...]:
    """Where the page is, the nearest first. On an address of the network nobody answers under the names of this machine."""
    host, port = sock.getsockname()[:2]
    found = ip_address(host)
    near = "127.0.0.1" if found.is_unspecified else host if found.is_loopback else ""
    shown = f"[{near}]" if ":" in near else near
    return (*((f"http://{shown}:{port}",) if near else ()), *map(written, origins))
