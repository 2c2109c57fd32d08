"""One whole round through a gateway with canaries in it: everything is tried, and everything that came out is looked at."""

import asyncio
from pathlib import Path

from daimon.testing.certificates import Certificates
from daimon.testing.provider.server import ProviderServer
from daimon.testing.upstream import Upstream
from lab import boxes, inside, neighbour, remains, spoken
from lab.errand import Errand, answered, errands
from lab.gate import Gate
from lab.planted import Planted, Ports, quoting
from lab.rounds import Tour


async def tour(place: Path, is_blind: bool, is_whole: bool) -> Tour:
    """`is_blind`: with a redactor that does nothing. `is_whole`: see `Tour`."""
    planted, authority = Planted(place, is_blind), Certificates()
    table: dict[str, Errand] = {each.id: each for each in errands(planted.texts)}
    async with (
        ProviderServer(lambda seen: answered(table, planted.texts["plain"], seen), key=planted.value("provider")) as provider,
        quoting(planted) as quotes,
        Upstream() as own,
        Upstream(authority.serving("sealed.test")) as sealed,
        Upstream() as other,
    ):
        ports = Ports(int(provider.url.rsplit(":", 1)[1]), quotes.port, own.port, sealed.port, other.port)
        await asyncio.to_thread(planted.prepare, ports, authority.pem)
        made = Tour(planted, provider, own, sealed, other, table, is_whole)
        await _through(made)
        return made


async def _through(tour: Tour) -> None:
    async with Gate(tour.planted) as gate:
        await inside.errands(tour, gate)
        await inside.unpromised(tour, gate)
        await inside.quoting(tour, gate)
        tour.mark("errands")
        if tour.is_whole:
            await boxes.looking(tour, gate)
        await boxes.network(tour, gate)
        tour.mark("boxes")
        await inside.letters(tour, gate)
        turn = await inside.late(tour, gate)
        await inside.routes(tour, gate)
        commands = await spoken.looking(tour, gate, turn)
        if tour.is_whole:
            await asyncio.to_thread(spoken.run, tour, "command", commands, "late")
            await asyncio.to_thread(spoken.run, tour, "command of a running gateway", await spoken.live(tour, gate), "late")
        tour.mark("commands")
    tour.look("log", "stdout of the gateway", gate.stdout)
    for number, record in enumerate(gate.errors.read_bytes().split(b"\ndaimon: ")):
        tour.look("log", f"stderr of the gateway, record {number}", record, "environment", "late")
    _remains(tour)
    if tour.is_whole:
        await asyncio.to_thread(spoken.afterwards, tour, commands)
    _neighbour(tour)
    tour.mark("afterwards")


def _remains(tour: Tour) -> None:
    for name, data in remains.files(tour.planted.home):
        more = () if name == "letter.txt" else ("file of the home",)
        tour.look("file of the home", name, data, *more, "environment", "owner's file")
    for database in ("journal.db", "memory.db"):
        for name, data in remains.tables(tour.planted.home / database):
            tour.look(f"table of {database}", name, data, "environment", "owner's file", "file of the home")


def _neighbour(tour: Tour) -> None:
    value = tour.planted.value("provider")
    for name, data in (neighbour.looks(value, is_closed=not tour.planted.is_blind) or {}).items():
        tour.look("neighbour of the same user", name, data)
