"""Terminals: typing into the shell of whoever started the gateway, or writing on their screen."""

from lab.escape.attack import Attack, Scene, calling, python, reached

_WRITE = "echo @{mark} > %s"
_TYPE = """
import fcntl, os, termios
terminal = os.open(%s, os.O_RDWR)
for letter in b'@{mark}\\n':
    fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))
"""
_OWN = """
import fcntl, pty
master, slave = pty.openpty()
code = libc.ioctl(slave, %s, %s)
told(code)
"""


def _is_seen(scene: Scene) -> bool:
    """On the owner's screen. What is typed into a terminal is shown there too."""
    scene.before["screen"] = scene.before.get("screen", b"") + scene.host.terminal_heard()
    return scene.mark.encode() in scene.before["screen"]


ATTACKS = (
    Attack(name="write on the owner's screen", command=_WRITE % "@{terminal}", judge=_is_seen, settle_s=0.2),
    Attack(name="write on every screen", command="for t in /dev/pts/[0-9]*; do echo @{mark} > $t; done", judge=_is_seen, settle_s=0.2),
    Attack(name="write on the terminal one has", command=_WRITE % "/dev/tty", judge=_is_seen, settle_s=0.2, has_terminal=True),
    Attack(name="type into the owner's shell", command=python(_TYPE % "'@{terminal}'"), judge=_is_seen, settle_s=0.2),
    Attack(name="type into the terminal one has", command=python(_TYPE % "'/dev/tty'"), judge=_is_seen, settle_s=0.2, has_terminal=True),
    Attack(name="TIOCSTI", command=calling(_OWN % ("0x5412", 'b"x"')), judge=reached),
    Attack(name="TIOCLINUX", command=calling(_OWN % ("0x541C", 'b"\\2"')), judge=reached),
    Attack(name="TIOCSETD: a line discipline", command=calling(_OWN % ("0x5423", "ctypes.byref(ctypes.c_int(99))")), judge=reached),
    Attack(name="TIOCSTI with a longer number", command=calling(_OWN % ("ctypes.c_ulong(0x100005412)", 'b"x"')), judge=reached),
)
