"""Claim: signed deliveries of webhooks are accepted durably at more than half the speed of a server that does nothing else.

The real `./daimon up` takes deliveries to 64 hooks from 64 open connections of another process, checks each signature, and answers when the
delivery and its event are on disk. Beside it, in turns, a bare asyncio server that
only writes the body in groups (`lab/bare.py`). In the main figure the agent waits for its model, as it does most of the time;
`working` is the same while a model answers at once, so that turns are run beside the intake. Then the gateway is killed in the
middle of the load: what it had acknowledged must be there.

The floor is asyncio's own server (`asyncio.start_server`); `ratio_raw` compares with the least that raw sockets under uvloop can do.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from lab import report
from lab.process import CHECKOUT, Process, command
from lab.subject import SETTINGS

CONNECTIONS = 64
SECRET_NAME = "hook-bench"
AIM_FLOOR = 0.6
AIM_PER_S = 3_000
AIM_P99_MS = 100.0
WAITING = 'extensions = ["lab.patience"]\nmodel.use = "patience"\nmodel.first_token_s = 600\n'
WORKING = SETTINGS
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT / "benchmarks")}


async def load(port: int, seconds: float, file: Path, secret: str = "-") -> dict[str, float]:
    sender = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.load", str(port), str(seconds), str(CONNECTIONS), str(file), secret,
        stdout=asyncio.subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    told, _ = await sender.communicate()
    return json.loads(told)


async def start(home: Path, settings: str) -> Process:
    furnish(home, settings)
    process = await Process.start(home, LAB_WORLD="0")
    await process.ready()
    for n in range(CONNECTIONS):
        hook = {"name": f"c{n}", "scheme": "github", "secret": SECRET_NAME, "per_minute": 10_000_000, "task": "Say what happened."}
        made = await process.call("PUT", f"/v1/hooks/c{n}", hook)
        assert made.status == 200, made.body
    return process


async def secret_of(home: Path) -> str:
    """As its owner reads it, to enter it at the service."""
    asked = await asyncio.create_subprocess_exec(
        *command("--home", str(home), "hooks", "show", "c0", "--secret", "--json"), stdout=asyncio.subprocess.PIPE, env=ENVIRONMENT
    )
    told, _ = await asked.communicate()
    return str(json.loads(told)["secret"])


def furnish(home: Path, settings: str) -> None:
    home.mkdir(mode=0o700)
    (home / "daimon.toml").write_text(settings)


async def gateway(place: Path, settings: str, seconds: float) -> dict[str, float]:
    process = await start(place, settings)
    try:
        return await load(process.port, seconds, place.with_name(f"{place.name}.keys"), await secret_of(place))
    finally:
        process.kill()
        await process.exit()


async def floor(place: Path, seconds: float, *kind: str) -> dict[str, float]:
    bare = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.bare", str(place), *kind, stdout=asyncio.subprocess.PIPE, env=ENVIRONMENT
    )
    try:
        assert bare.stdout is not None
        return await load(int(await bare.stdout.readline()), seconds, place.with_name(f"{place.name}.keys"))
    finally:
        bare.kill()
        await bare.wait()


async def killed(place: Path, seconds: float) -> dict[str, int]:
    """Death in the middle of the load; then every acknowledged event is sent again and must be recognised."""
    file = place.with_name("killed.keys")
    process = await start(place, WAITING)
    secret = await secret_of(place)
    loading = asyncio.create_task(load(process.port, seconds * 3, file, secret))
    await asyncio.sleep(seconds)
    process.kill()
    await process.exit()
    sent = await loading
    again = await Process.start(place, LAB_WORLD="0")
    try:
        await again.ready()
        present = (await again.call("GET", "/v1/status")).data["count"]["events"]
        twice = await load(again.port, 0, file, secret)
    finally:
        again.kill()
        await again.exit()
    return {"accepted": int(sent["accepted"]), "present": present, "recognised": int(twice["accepted"] - twice["new"])}


async def main() -> int:
    asked = report.options(__doc__)
    seconds, times = (2.0, 3) if asked.quick else (6.0, 5)
    runs: dict[str, list[dict[str, float]]] = {"bare": [], "raw": [], "gateway": [], "working": []}
    with tempfile.TemporaryDirectory(prefix="daimon-intake-") as place:
        for n in range(times):
            runs["bare"].append(await floor(Path(place) / f"bare{n}", seconds))
            runs["gateway"].append(await gateway(Path(place) / f"gateway{n}", WAITING, seconds))
        runs["raw"].append(await floor(Path(place) / "raw", seconds, "raw"))
        runs["working"].append(await gateway(Path(place) / "working", WORKING, seconds))
        death = await killed(Path(place) / "killed", seconds)
    middle = {
        name: {key: report.median([run[key] for run in each]) for key in ("per_s", "p50_ms", "p99_ms")} for name, each in runs.items()
    }
    report.table(("", "events/s", "p50 ms", "p99 ms"), [(name, round(m["per_s"]), m["p50_ms"], m["p99_ms"]) for name, m in middle.items()])
    refused = sum(run["refused"] for each in runs.values() for run in each)
    fields = {
        "events_per_s": round(middle["gateway"]["per_s"]),
        "floor_per_s": round(middle["bare"]["per_s"]),
        "ratio_floor": round(report.median([g["per_s"] / b["per_s"] for g, b in zip(runs["gateway"], runs["bare"], strict=True)]), 3),
        "ratio_raw": round(middle["gateway"]["per_s"] / middle["raw"]["per_s"], 3),
        "p99_ms": round(middle["gateway"]["p99_ms"], 2),
        "working_per_s": round(middle["working"]["per_s"]),
        "refused": int(refused),
        **death,
    }
    is_kept = not refused and 0 < death["accepted"] <= death["present"] and death["recognised"] == death["accepted"]
    return report.finish(
        asked,
        fields,
        is_kept,
        {
            f"{AIM_FLOOR} of what a bare server takes": fields["ratio_floor"] >= AIM_FLOOR,
            f"{AIM_PER_S} deliveries a second": fields["events_per_s"] >= AIM_PER_S,
            f"p99 below {AIM_P99_MS:g} ms": fields["p99_ms"] < AIM_P99_MS,
        },
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
