"""Rights that outlive the box: programs that run as somebody else, devices, capabilities. Judged by the files on the host."""

import os
import shutil
import stat
from contextlib import suppress

from lab.escape.attack import Attack, Judge, Scene, calling, python, reached
from lab.escape.host import WORK, Host

SOMEBODY = 4_321


def _set_bits(scene: Scene) -> bool:
    return any(path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID) for path in WORK.rglob("*"))


def _devices(scene: Scene) -> bool:
    return any(stat.S_ISCHR(path.lstat().st_mode) or stat.S_ISBLK(path.lstat().st_mode) for path in WORK.rglob("*"))


def _capabilities(scene: Scene) -> bool:
    with suppress(OSError):
        return bool(os.getxattr(WORK / "program", "security.capability"))
    return False


def _owned_by(uid: int) -> Judge:
    return lambda scene: any(path.lstat().st_uid == uid for path in WORK.iterdir() if path.name == "made")


def _with_set_id_program(host: Host) -> None:
    """One of somebody else, as root could have left it. Only root can prepare it."""
    shutil.copy(shutil.which("touch") or "/usr/bin/touch", WORK / "touch")
    with suppress(PermissionError):
        os.chown(WORK / "touch", SOMEBODY, SOMEBODY)
        os.chmod(WORK / "touch", 0o6755)
    WORK.chmod(0o777)


_CALL = "open('program', 'w').close(); told(libc.%s)"
_ARCHIVE = """
import io, tarfile
info = tarfile.TarInfo("program"); info.mode = 0o6755
with tarfile.open("a.tar", "w") as archive: archive.addfile(info, io.BytesIO())
"""
_CAPABILITY = """
import os
open("program", "w").close()
os.setxattr("program", "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
"""
_TAKE = """
import struct
head, sets = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
told(libc.capset(head, sets))
"""

ATTACKS = (
    Attack(name="run a set-id program", command="./touch made", judge=_owned_by(SOMEBODY), prepare=_with_set_id_program),
    Attack(name="leave a setuid program", command="cp /bin/cat program; chmod 4755 program", judge=_set_bits),
    Attack(name="leave a setgid program", command="cp /bin/cat program; chmod 2755 program", judge=_set_bits),
    Attack(name="leave a setgid directory", command="mkdir d; chmod g+s d; install -d -m 2777 e", judge=_set_bits),
    Attack(name="fchmod", command=python("import os; os.fchmod(os.open('program', os.O_CREAT | os.O_RDWR), 0o4755)"), judge=_set_bits),
    Attack(name="fchmodat2", command=calling(_CALL % 'syscall(@{fchmodat2}, -100, b"program", 0o4755, 0)'), judge=_set_bits),
    Attack(name="made with the bit", command=python("import os; os.umask(0); os.open('program', os.O_CREAT, 0o6755)"), judge=_set_bits),
    Attack(
        name="openat2",
        command=calling('import struct; told(libc.syscall(@{openat2}, -100, b"program", struct.pack("3Q", 0o101, 0o4755, 0), 24))'),
        judge=_set_bits,
    ),
    Attack(name="mknod with the bit", command=python("import os; os.umask(0); os.mknod('program', 0o104755)"), judge=_set_bits),
    Attack(name="out of an archive", command=f"{python(_ARCHIVE)}; tar xpf a.tar", judge=_set_bits),
    Attack(name="a copy that keeps modes", command="cp -p /usr/bin/su program || cp -p /usr/bin/passwd program", judge=_set_bits),
    Attack(name="a device of memory", command="mknod device c 1 1", judge=_devices),
    Attack(name="a device of a disk", command=python("import os; os.mknod('device', 0o60666, os.makedev(8, 0))"), judge=_devices),
    Attack(name="capabilities on a file", command=python(_CAPABILITY), judge=_capabilities),
    Attack(name="give a file away", command="touch made; chown 4321 made", judge=_owned_by(SOMEBODY)),
    Attack(
        name="become root",
        command=calling("told(libc.setuid(0)); os._exit(0) if os.getuid() else print('REACHED')"),
        judge=lambda s: "REACHED 0" in s.said.text,
    ),
    Attack(name="take capabilities", command=calling(_TAKE), judge=reached),
)
