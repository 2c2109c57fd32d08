"""`daimon test` and `daimon bench`: programs of the checkout, run with the Python that runs this."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.errors import Misconfigured, NotFound
from daimon.cli import exits, screen

VARIABLE = "DAIMON_CHECKOUT"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    code: int
    took_s: float


CHECKS = (
    Check("ruff check", (sys.executable, "-m", "ruff", "check", ".")),
    Check("ruff format", (sys.executable, "-m", "ruff", "format", "--check", ".")),
    Check("mypy", (sys.executable, "-m", "mypy")),
    Check("import rules", (str(Path(sys.executable).with_name("lint-imports")),)),
)


def test(arguments: list[str], as_json: bool) -> None:
    """All run, even if one fails; pytest is the last, so that its summary stands at the end."""
    root = _root()
    done = [_run(check, root, as_json) for check in CHECKS]
    if not as_json:
        screen.say("\n".join(f"{'ok    ' if o.code == 0 else 'FAILED'}  {o.name} ({o.took_s:.1f} s)" for o in done) + "\n")
    done.append(_run(Check("pytest", (sys.executable, "-m", "pytest", *arguments)), root, as_json))
    failed = [outcome.name for outcome in done if outcome.code]
    if as_json:
        checks = [{"name": o.name, "ok": o.code == 0, "code": o.code, "took_s": round(o.took_s, 3)} for o in done]
        screen.emit_value({"ok": not failed, "checks": checks})
    elif failed and failed != ["pytest"]:
        screen.remark(f"failed: {', '.join(failed)}", "red")
    sys.exit(exits.FAILED if failed else exits.OK)


def bench(name: str | None, arguments: list[str]) -> None:
    root = _root()
    known = {file.stem.rstrip("_"): file for file in sorted((root / "benchmarks").glob("[!_]*.py"))}
    if name is None:
        screen.say("\n".join(known) or "this checkout has no benchmarks")
        return
    name = name.replace("-", "_")
    if name not in known:
        raise NotFound(f"there is no benchmark {name!r}; there are {', '.join(known) or 'none'}")
    sys.exit(subprocess.run([sys.executable, str(known[name]), *arguments], cwd=root, check=False).returncode)  # noqa: S603 - from the list above


def _run(check: Check, root: Path, as_json: bool) -> Outcome:
    started = time.monotonic()
    screen.verbatim(f"$ {check.name}")
    sys.stdout.flush()
    try:
        code = subprocess.run(check.command, cwd=root, stdout=sys.stderr if as_json else None, check=False).returncode  # noqa: S603
    except FileNotFoundError as missing:
        screen.remark(f"{missing.filename} is missing: `./daimon test` installs it", "red")
        code = exits.FAILED
    return Outcome(check.name, code, time.monotonic() - started)


def _root() -> Path:
    """Where the bootstrap says it is, else where this file lies."""
    given = os.environ.get(VARIABLE)
    root = Path(given) if given else Path(__file__).resolve().parents[3]
    if not (root / "pyproject.toml").is_file():
        raise Misconfigured(f"{root} is not a checkout of Daimon; this command needs one (set {VARIABLE})")
    return root
