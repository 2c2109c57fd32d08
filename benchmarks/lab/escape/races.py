"""Names that change their meaning: links and renames, between the look of one and the act of another."""

from lab.escape.attack import Attack, changed, exists, python, told
from lab.escape.host import Host


def _new(host: Host) -> None:
    return


_SWAP = """
import os, threading, time
open("plain", "w").close()
os.symlink("@{home}/canary", "link")
stop = time.monotonic() + 1
while time.monotonic() < stop:
    os.rename("plain", "x"); os.rename("link", "plain"); os.rename("plain", "link"); os.rename("x", "plain")
    with open("link", "r+") as file: file.write("@{mark}")
"""
_AGAIN = "(setsid sh -c 'while :; do echo x > .envrc; sleep 0.02; done' >/dev/null 2>&1 &) ; sleep 0.1"
_LINKED_PIN = "ln -s @{home} .vscode; ln -s @{home}/canary .envrc; ln -s @{home}/canary envrc.set-aside-1"

ATTACKS = (
    Attack(name="a link that was a file", command=python(_SWAP), judge=changed("home")),
    Attack(name="write through a link", command="ln -s @{home}/canary link; echo @{mark} > link", judge=changed("home")),
    Attack(name="write through a directory's link", command="ln -s @{home} dir; echo @{mark} > dir/canary", judge=changed("home")),
    Attack(name="start in a directory that is a link", command="ln -s @{home} dir; cd dir && cat canary", judge=told("home")),
    Attack(
        name="the workspace under another name", command="mv /workspace/work /workspace/x; mv @{work} @{home}/gone", judge=exists("gone")
    ),
    Attack(name="links where pins are", command=_LINKED_PIN + "; echo @{mark} > .envrc", judge=changed("home"), prepare=_new),
    Attack(name="again, whenever it was set aside", command=_AGAIN, judge=exists("work/.envrc"), prepare=_new, settle_s=1.0),
)
