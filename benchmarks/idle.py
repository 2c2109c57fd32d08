"""Claim: it starts in less than a second, and idle it takes less than 90 MB and less than half a percent of one core.

ready_s       from exec of `./daimon up`, in an environment that is installed, to the line `ready`; the median of five starts
rss_mb        resident memory after five seconds of rest
cpu_percent   of one core, over a minute of rest
install_mb    what the pinned packages put on disk, from their own records, without compiled bytecode
dependencies  how many packages are pinned, direct and indirect
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from lab import report
from lab.process import CHECKOUT, Process

STARTS = 5
SETTLE_S = 5.0
AIM_READY_S, AIM_RSS_MB, AIM_CPU_PERCENT = 1.0, 90.0, 0.5
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\;]+)", re.MULTILINE)


async def starts(home: Path) -> list[float]:
    """The first start makes the home and is not counted."""
    took = []
    for _ in range(STARTS + 1):
        begun = time.monotonic()
        process = await Process.start(home)
        await process.ready()
        took.append(time.monotonic() - begun)
        process.kill()
        await process.exit()
    return took[1:]


async def rest(home: Path, seconds: float) -> tuple[float, float]:
    """Memory in MB and processor time in percent of one core, with nothing to do."""
    process = await Process.start(home)
    try:
        await process.ready()
        await asyncio.sleep(SETTLE_S)
        before, begun = cpu_s(process.pid), time.monotonic()
        await asyncio.sleep(seconds)
        return rss_mb(process.pid), (cpu_s(process.pid) - before) / (time.monotonic() - begun) * 100
    finally:
        process.kill()
        await process.exit()


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    kilobytes = next(line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(kilobytes) / 1024


def pinned() -> dict[str, float]:
    """Megabytes by package, of those pins that are meant for this platform and so are installed."""
    sizes = {}
    for name, _ in _PIN.findall((CHECKOUT / "requirements.lock").read_text()):
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            continue
        sizes[name] = sum(file.size or 0 for file in files) / 1e6
    return sizes


async def main() -> int:
    asked = report.options(__doc__)
    with tempfile.TemporaryDirectory(prefix="daimon-idle-") as place:
        home = Path(place) / "home"
        took = await starts(home)
        memory, cpu = await rest(home, 10.0 if asked.quick else 60.0)
    sizes = pinned()
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:6]
    report.table(("largest packages", "MB"), [(name, round(size, 1)) for name, size in largest])
    report.table(("start", "s"), [(n + 1, round(each, 3)) for n, each in enumerate(took)])
    fields = {
        "ready_s": round(report.median(took), 3),
        "rss_mb": round(memory, 1),
        "cpu_percent": round(cpu, 3),
        "install_mb": round(sum(sizes.values()), 1),
        "dependencies": len(sizes),
    }
    aims = {
        f"ready in less than {AIM_READY_S} s": fields["ready_s"] < AIM_READY_S,
        f"less than {AIM_RSS_MB} MB": fields["rss_mb"] < AIM_RSS_MB,
        f"less than {AIM_CPU_PERCENT} % of a core": fields["cpu_percent"] < AIM_CPU_PERCENT,
    }
    return report.finish(asked, fields, aims=aims)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
