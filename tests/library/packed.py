"""Archives, honest ones and others."""

import io
import tarfile
import zipfile

from daimon.skills.bundle import Bundle


def tar_of(files: Bundle, *more: tarfile.TarInfo, prefix: str = "", mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for path, file in files.items():
            info = tarfile.TarInfo(f"{prefix}{path}")
            info.size, info.mode = len(file.data), 0o755 if file.is_executable else 0o644
            archive.addfile(info, io.BytesIO(file.data))
        for info in more:
            archive.addfile(info, io.BytesIO(b"x" * info.size))
    return out.getvalue()


def zip_of(files: Bundle, *more: zipfile.ZipInfo, prefix: str = "", data: bytes = b"x", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in files.items():
            info = zipfile.ZipInfo(f"{prefix}{path}")
            info.create_system, info.external_attr = 3, (0o100755 if file.is_executable else 0o100644) << 16
            archive.writestr(info, file.data, zipfile.ZIP_DEFLATED)
        for each in more:
            archive.writestr(each, data, method)
    return out.getvalue()


def link(path: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, to
    return info


def entry(path: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = path
    info.create_system, info.external_attr = 3, mode << 16
    return info


def sized(size: int) -> bytes:
    """A tar file with one entry that says so of its size."""
    head = bytearray(tarfile.TarInfo("SKILL.md").tobuf(tarfile.USTAR_FORMAT))
    head[124:136] = (size if size >= 0 else (1 << 96) + size | 1 << 95).to_bytes(12, "big")
    head[124] = 0x80 if size >= 0 else 0xFF
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + bytes(1_024)
