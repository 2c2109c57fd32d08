"""A few integers that the driver and the process under test share, through a file: how a fault is set while the process runs."""

import mmap
import struct
from pathlib import Path

PLACES = 4


class Dial:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._form = struct.Struct(f"<{PLACES}q")
        if not path.exists():
            path.write_bytes(bytes(self._form.size))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), self._form.size)

    def set(self, *values: int) -> None:
        self._form.pack_into(self._shared, 0, *values, *(0 for _ in range(PLACES - len(values))))

    def get(self) -> tuple[int, ...]:
        return self._form.unpack_from(self._shared, 0)
