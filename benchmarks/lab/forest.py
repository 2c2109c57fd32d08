"""A tree of files to measure with, made on the spot: sizes of source code, a few large ones."""

import os
import random
from pathlib import Path

PER_DIRECTORY = 50
SMALL = (200, 8_000)
MIB = 1 << 20


def plant(top: Path, files: int, size_mb: int, chance: random.Random) -> None:
    """So many files, together so many megabytes: what small ones do not fill, twenty large ones do."""
    sizes = [chance.randint(*SMALL) for _ in range(files)]
    missing, large = max(0, size_mb * MIB - sum(sizes)), min(20, files)
    for n in range(large):
        sizes[n * files // large] += missing // large
    noise = chance.randbytes(MIB)
    for n, size in enumerate(sizes):
        place = top / f"d{n // PER_DIRECTORY:04}"
        if n % PER_DIRECTORY == 0:
            place.mkdir(parents=True)
        _write(place / f"f{n:06}.txt", size, noise, n)


def change(top: Path, files: int, number: int, chance: random.Random) -> None:
    """Touches so many of them, as an agent would: appends a line."""
    for n in chance.sample(range(files), min(number, files)):
        with (top / f"d{n // PER_DIRECTORY:04}" / f"f{n:06}.txt").open("ab") as file:
            file.write(b"one more line\n")


def _write(path: Path, size: int, noise: bytes, n: int) -> None:
    with path.open("wb") as file:
        file.write(f"file {n}\n".encode())
        left = size
        while left > 0:
            left -= file.write(noise[: min(left, len(noise))])
    os.utime(path, (1_700_000_000, 1_700_000_000))
