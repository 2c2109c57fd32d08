"""An archive as a bundle. It is a stranger's: what it says of itself is checked before a byte of it is kept.

Nothing is unpacked to disk. A limit holds for what comes out, however small it is packed; an entry that would blow up, leads elsewhere, or
is no plain file refuses the whole archive. `Packing` says what a path may be.
"""

import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from daimon.abi.errors import BadInput, TooLarge
from daimon.skills.bundle import MOST_BYTES, MOST_FILE_BYTES, MOST_FILES, Bundle, File, Packing, is_left_out, shown
from daimon.skills.format import SKILL

MOST_PACKED = MOST_BYTES
MOST_ENTRIES = 10 * MOST_FILES
MOST_UNPACKED = MOST_BYTES + MOST_ENTRIES * 1_536
"""Of a tar file: with its own headers."""
RATIO, SMALL = 200, 1 << 20
"""So many times its size a file of more than that may become: text rarely packs better than twenty to one."""
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)
_ENTRY_OF_ZIP = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of packing. The others are unpacked as a whole by Python, however little of them is asked for: 242 bytes become all of the memory."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    size: int
    is_executable: bool
    fault: str
    """Why it cannot be in a skill."""
    read: Callable[[], bytes]


def unpacked(data: bytes, whence: str, below: str = "") -> tuple[str, Bundle]:
    """The name of the skill's directory (empty: it lies in none) and its files. Raises BadInput, TooLarge."""
    if len(data) > MOST_PACKED:
        raise TooLarge(f"{whence} has {len(data):,} bytes; {MOST_PACKED:,} are the most for a skill")
    try:
        entries = list(_zipped(data, whence) if data[:2] == b"PK" else _tarred(_inflated(data, whence), whence))
        return _placed(entries, whence, below)
    except _BROKEN as broken:
        raise BadInput(f"{whence} is no archive that can be read ({str(broken)[:200]}); it must be a .zip, .tar.gz or .tgz") from None


def untarred(data: bytes, whence: str) -> Bundle:
    """Of a tar file that holds a skill and nothing else."""
    try:
        return _packed(list(_tarred(data, whence)), whence, "")
    except _BROKEN as broken:
        raise BadInput(f"{whence} cannot be read ({str(broken)[:200]})") from None


def _inflated(data: bytes, whence: str) -> bytes:
    out = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_UNPACKED + 1) if data[:2] == b"\x1f\x8b" else data
    if len(out) > MOST_UNPACKED or (len(out) > SMALL and len(out) > RATIO * len(data)):
        raise TooLarge(
            f"{whence} has {len(data):,} bytes and becomes {len(out):,} or more: it is made to fill a disk. Nothing was installed"
        )
    return out


def _zipped(data: bytes, whence: str) -> Iterator[_Entry]:
    _require_few(data.count(_ENTRY_OF_ZIP), whence)  # before they are read, which takes a while for half a million
    archive = zipfile.ZipFile(io.BytesIO(data))
    _require_few(len(archive.infolist()), whence)
    for info in archive.infolist():
        mode = info.external_attr >> 16 if info.create_system == 3 else 0
        name = info.orig_filename  # as it stands there: another one is cut at the first NUL
        fault = _fault_of(info, mode)
        if not name.endswith("/"):
            yield _Entry(name, info.file_size, bool(mode & stat.S_IXUSR), fault, lambda info=info: _some(archive, info))  # type: ignore[misc]
        elif fault:
            raise BadInput(f"{whence} holds {shown(name)}: {fault}. Nothing was installed")


def _fault_of(info: zipfile.ZipInfo, mode: int) -> str:
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or a device"
    if info.flag_bits & 1:
        return "locked with a password"
    if info.compress_type not in _METHODS:
        return f"packed in an unusual way (method {info.compress_type}); pack it with the usual one"
    is_bomb = info.file_size > SMALL and info.file_size > RATIO * max(info.compress_size, 1)
    return f"{info.compress_size:,} bytes that become {info.file_size:,}" if is_bomb else ""


def _some(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """What it says of its size may be a lie."""
    with archive.open(info) as file:
        return file.read(MOST_FILE_BYTES + 1)


def _tarred(data: bytes, whence: str) -> Iterator[_Entry]:
    archive = tarfile.TarFile(fileobj=io.BytesIO(data))
    for n, info in enumerate(archive):
        _require_few(n, whence)
        name = info.name.removeprefix("./")
        if info.isdir():
            continue
        fault = "" if info.isreg() and not info.issparse() else "a link, a device, or a file with holes"
        yield _Entry(name, info.size, bool(info.mode & stat.S_IXUSR), fault, lambda info=info: _content(archive, info))  # type: ignore[misc]


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(info)
    return b"" if file is None else file.read(MOST_FILE_BYTES + 1)


def _require_few(count: int, whence: str) -> None:
    if count > MOST_ENTRIES:
        raise TooLarge(f"{whence} holds more than {MOST_ENTRIES:,} entries; a skill has at most {MOST_FILES} files")


def _placed(entries: list[_Entry], whence: str, below: str) -> tuple[str, Bundle]:
    tops = {entry.path.split("/")[0] for entry in entries if "/" in entry.path and not is_left_out(entry.path)}
    loose = any("/" not in entry.path and not is_left_out(entry.path) for entry in entries)
    top = next(iter(tops)) if len(tops) == 1 and not loose else ""
    for where in [below, f"{top}/{below}"] if below else ["", top]:
        bundle = _packed(entries, whence, where)
        if SKILL in bundle:
            return where.rpartition("/")[2], bundle
    found = sorted(entry.path.removesuffix(f"/{SKILL}") for entry in entries if entry.path.endswith(f"/{SKILL}"))
    hint = f"it has skills in {', '.join(map(shown, found[:8]))}: name one, as in ARCHIVE#{found[0][:60]}" if found else "it holds no skill"
    raise BadInput(f"{whence} has no {SKILL} {f'in {shown(below)}' if below else 'at its top'}; {hint}")


def _packed(entries: list[_Entry], whence: str, where: str) -> Bundle:
    """All entries are looked at, wherever they are: an archive with tricks in it is not to be trusted elsewhere."""
    packing, looked = Packing(whence), Packing(whence)
    prefix = f"{where}/" if where else ""
    for entry in entries:
        if is_left_out(entry.path):
            continue
        if entry.fault:
            raise BadInput(f"{whence} holds {shown(entry.path)}: {entry.fault}. Nothing was installed")
        looked.admit(entry.path, 0)
        if entry.path.startswith(prefix):
            packing.admit(entry.path.removeprefix(prefix), entry.size)
            packing.add(entry.path.removeprefix(prefix), File(entry.read(), entry.is_executable))
    return packing.files
