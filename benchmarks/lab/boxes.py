"""What is tried from inside of boxes, through a gateway: looking round, and sending stand-ins out."""

from daimon.testing.provider.line import Call, Line
from lab import jailbreak
from lab.errand import OVER, Errand
from lab.gate import Gate
from lab.rounds import Tour

A_SCRIPT = 24
"""Commands of the network that run one after the other."""
HOSTS = ["own.test", "other.test", "sealed.test"]


async def looking(tour: Tour, gate: Gate) -> None:
    known = {"owner": tour.planted.owner, "home": tour.planted.home, "place": tour.planted.place, "pid": gate.pid, "port": gate.port}
    commands = {name: command.format(**known) for name, command in jailbreak.LOOKING.items()}
    lines = tuple(
        Line(calls=(Call("run", {"command": f"(\n{command}\n) 2>&1 | head -c 20000", "timeout_s": 20.0}),)) for command in commands.values()
    )
    tour.errands["box"] = errand = Errand("box", "later", "box", (*lines, OVER))
    await gate.ask(errand.posted())
    results = await tour.results(gate, "box")
    for name, data in zip(commands, results, strict=True):
        tour.look("box", name, data, "environment", "owner's file", "file of the home")
    for sink, data in (await tour.sinks(gate, "box")).items():
        tour.look("box", f"all of it, seen in the {sink}", data, "environment", "owner's file", "file of the home")


async def network(tour: Tour, gate: Gate) -> None:
    answers = jailbreak.answers(tour.planted.value("host"), tour.planted.value("pem"))
    tour.own.answers.update(answers)
    tour.sealed.answers.update(answers)
    commands = {**jailbreak.SENDING, **jailbreak.fetching(answers)}
    names = list(commands)
    for first in range(0, len(names), A_SCRIPT):
        part = {name: commands[name] for name in names[first : first + A_SCRIPT]}
        id_ = f"net{first:03}"
        call = Call("run_online", {"command": jailbreak.script(part, first), "hosts": HOSTS, "timeout_s": 100.0})
        tour.errands[id_] = errand = Errand(id_, "later", "network", (Line(calls=(call,)), OVER))
        await gate.ask(errand.posted())
        for sink, data in (await tour.sinks(gate, id_)).items():
            tour.look("way out", f"{first} and following, seen in the {sink}", data)
    for number, name in enumerate(names):
        got = tour.planted.home / "workspace" / f"got-{number}"
        tour.look("way out", f"{name}, in the box", got.read_bytes() if got.exists() else b"")
        got.unlink(missing_ok=True)
    for number, seen in enumerate(tour.other.got):
        tour.look("way out", f"request {number} to another host", seen.raw)
    tour.look("way out", "all that another host got", bytes(tour.other.bytes) or b"nothing")
