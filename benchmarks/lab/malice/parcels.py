"""Plots by the wrapping: archives, directories and repositories that want to put something elsewhere, to fill the machine or to run."""

import io
import os
import resource
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.library.git_server import committed
from tests.library.packed import entry, link, sized, tar_of, zip_of
from tests.skills.written import put

from daimon.abi.errors import DaimonError
from daimon.skills.bundle import Bundle, File
from lab.den import Den
from lab.malice.goods import librarian, written
from lab.malice.plot import Play, Plot

NAME = "read-feeds"
OUT = "a file appeared outside of the shelves, something ran, or the machine was filled"
MOST_MB = 400
"""So much more memory than before is too much for a refusal."""
Pack = Callable[[Path, str], str]
"""Puts it there, with the mark in it, and gives its source."""


def refused(*packs: Pack) -> Play:
    """Each is offered and installed; nothing may be there afterwards."""

    async def play(den: Den, mark: str) -> list[str]:
        harm: list[str] = []
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for n, pack in enumerate(packs):
            (place := den.place / "parcels" / str(n)).mkdir(parents=True)
            source = pack(place, mark)
            for bring in (librarian(den).offer, librarian(den).install):
                try:
                    await bring(source)
                    harm.append(f"{source[-60:]} was taken")
                except DaimonError as told:
                    harm += [f"what is told holds raw signs: {str(told)[:80]!a}"] if not str(told).isprintable() else []
        grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
        harm += [f"it took {grown_mb} MB of memory"] if grown_mb > MOST_MB else []
        harm += [f"{path.name} is on the shelves" for path in den.home.skills.iterdir() if path.name != "index.json"]
        return harm + [f"{path} was made" for path in den.place.rglob(f"ran-{mark}")]

    return play


def _archive(make: Callable[[str], bytes], name: str = "skill.zip") -> Pack:
    def pack(place: Path, mark: str) -> str:
        (place / name).write_bytes(make(mark))
        return str(place / name)

    return pack


def _files(mark: str) -> Bundle:
    return written(NAME, mark, go=f"touch ran-{mark}")


def _tar(*more: tarfile.TarInfo) -> Pack:
    return _archive(lambda mark: tar_of(_files(mark), *more), "skill.tar.gz")


def _zip(*more: zipfile.ZipInfo, data: bytes = b"x", method: int = zipfile.ZIP_DEFLATED) -> Pack:
    return _archive(lambda mark: zip_of(_files(mark), *more, data=data, method=method))


def _lying(mark: str) -> bytes:
    """300 MB in bzip2, which say that they are a hundred bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive, archive.open("SKILL.md", "w") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    return out.getvalue().replace((300 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def _folder(spoil: Callable[[Path], object]) -> Pack:
    def pack(place: Path, mark: str) -> str:
        put(place / NAME, _files(mark))
        spoil(place / NAME)
        return str(place / NAME)

    return pack


def _yaml(head: str) -> Pack:
    return _folder(lambda top: (top / "SKILL.md").write_text(f"---\nname: {NAME}\n{head}\n---\nx\n"))


_ROUNDS = zip("abcdefgh", "bcdefghi", strict=True)
BOMB = "\n".join(["a: &a [x,x,x,x,x,x,x,x,x]", *(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]" for a, b in _ROUNDS)])
ADDRESSES = (
    "ext::sh -c touch% ran-{mark}", "--upload-pack=touch ran-{mark}", "https://x.test/y.git#@--upload-pack=touch", "file:///etc#../../root",
    "ssh://-oProxyCommand=touch/x", "git@evil.test:x.git", "http://evil.test/x.git", "https://user:pass@evil.test/x.git", "file:///proc/self/cwd",
)  # fmt: skip


def _address(text: str) -> Pack:
    return lambda place, mark: text.format(mark=mark)


def _repository(place: Path, mark: str) -> str:
    """With hooks, a filter, a pager and a monitor that want to run, and a module that lies elsewhere."""
    put(place / "repo" / NAME, {**_files(mark), "references/link": File(b"x")})
    (place / "repo" / NAME / "references/link").unlink()
    (place / "repo" / NAME / "references/link").symlink_to("/etc/passwd")
    committed(place / "repo")
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        (file := place / "repo/.git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {place}/ran-{mark}\n")
        file.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "uploadpack.packObjectsHook", "tar.tar.command", "core.sshCommand"):
        subprocess.run(["git", "-C", str(place / "repo"), "config", key, f"touch {place}/ran-{mark}"], check=True)
    return f"file://{place}/repo#{NAME}"


def _with_filter(place: Path, mark: str) -> str:
    """A repository whose settings name a filter, which git runs over what it packs."""
    put(top := place / NAME, {**written(NAME, "Steps."), ".gitattributes": File(b"* filter=x")})
    committed(top)
    subprocess.run(["git", "-C", str(top), "config", "filter.x.smudge", f"sh -c 'cat; echo {mark}'"], check=True)
    (top / ".git/info/attributes").write_text("* filter=x\n")
    return f"file://{top}"


async def _filtered(den: Den, mark: str) -> list[str]:
    offer = await librarian(den).offer(_with_filter(den.place / "filtered", mark))
    return ["a command of the repository wrote what is offered"] if mark in offer.skill.body else []


CASED = _archive(lambda mark: tar_of({**_files(mark), "skill.MD": File(b"x")}), "a.tgz")
LARGE = _archive(lambda mark: tar_of({**_files(mark), "b": File(bytes(40 << 20))}), "b.tgz")
HUGE, LESS = _archive(lambda mark: sized(1 << 80), "c.tgz"), _archive(lambda mark: sized(-512), "d.tgz")
MANY = _archive(lambda mark: zip_of(_files(mark)) + b"PK\1\2" * 500_000)
UP = (_tar(tarfile.TarInfo("../x")), _zip(entry("../x")), _zip(entry("a/../../x")), _zip(entry("..\\x")))
ROOT = (_tar(tarfile.TarInfo("/etc/cron.d/x")), _zip(entry("/etc/cron.d/x")), _zip(entry("C:x")))
LINKS = (_tar(link("a", "/etc")), _tar(link("p", "/etc/passwd", tarfile.LNKTYPE)), _zip(entry("a", 0o120777)))
DEVICES = (_tar(link("n", "", tarfile.CHRTYPE)), _tar(link("f", "", tarfile.FIFOTYPE)), _zip(entry("d", 0o060666)))
UNSEEN = (_zip(entry("x.md\0.sh")), _zip(entry("a\u202egpj.sh")), _tar(tarfile.TarInfo("n" * 3_000)), _zip(entry("a\x1b[2Jb")))
FILLING = (_archive(_lying), _zip(entry("big"), data=bytes(8 << 20)), LARGE, HUGE, LESS, MANY)
HEADS = (BOMB, "description: !!python/object/apply:os.system ['true']", "description: x\nname: other", "description: " + "[" * 4_000)
BESIDE = (
    _folder(lambda top: (top / "a").symlink_to("/etc")),
    _folder(lambda top: (top / "up").symlink_to("..")),
    _folder(lambda top: os.mkfifo(top / "pipe")),
)
PLOTS = (
    Plot("paths that lead out", OUT, refused(*UP), is_quick=True),
    Plot("paths from the root", OUT, refused(*ROOT)),
    Plot("links in an archive", OUT, refused(*LINKS)),
    Plot("devices and pipes", OUT, refused(*DEVICES)),
    Plot("names that are one on some disks", OUT, refused(CASED, _tar(tarfile.TarInfo("SKILL.md")))),
    Plot("names that nobody sees whole", OUT, refused(*UNSEEN)),
    Plot("archives that fill the machine", OUT, refused(*FILLING)),
    Plot("heads that blow up or say two things", OUT, refused(*map(_yaml, (*HEADS, "description: x" * 10_000)))),
    Plot("links and pipes in a directory", OUT, refused(*BESIDE)),
    Plot("a repository that wants to run", OUT, refused(_repository)),
    Plot("a repository whose settings name a filter", OUT, _filtered),
    Plot("addresses that are commands", OUT, refused(*map(_address, ADDRESSES))),
)
