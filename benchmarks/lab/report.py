"""How every benchmark speaks: a table for people, with `--json` one object on the last line for programs, and an exit code for both."""

import argparse
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def options(about: str, files: Mapping[str, tuple[Path, str]] | None = None, **switches: str) -> argparse.Namespace:
    """What all benchmarks take; the files of this one, each with its default and its help; and its switches."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", action="store_true", help="end with one JSON object on the last line")
    parser.add_argument("--quick", action="store_true", help="less of everything; under 45 seconds")
    parser.add_argument("--seed", type=int, default=0, help="of the random choices")
    for name, (default, meaning) in (files or {}).items():
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, default=default, help=meaning)
    for name, meaning in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    return parser.parse_args()


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    cells = [list(head), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def finish(asked: argparse.Namespace, fields: dict[str, Any], is_kept: bool = True, aims: dict[str, bool] | None = None) -> int:
    """The exit code: 1 if a promise is broken. A missed aim is said, but speed depends on the machine and breaks nothing."""
    for name, value in fields.items():
        print(f"{name:>24}  {_text(value)}")
    print()
    for aim, is_met in (aims or {}).items():
        print(f"{'met   ' if is_met else 'MISSED'}  {aim}")
    print("" if is_kept else "A promise is broken.", flush=True)
    if asked.json:
        print(json.dumps(fields), flush=True)
    return 0 if is_kept else 1


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
