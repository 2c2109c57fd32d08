"""Looks for a pattern in files, where there is no ripgrep: a program of its own, so that a pattern that never ends can be ended.

    searcher.py PATTERN NAMES FILE, in the directory to search; prints PATH NUL LINE:OFFSET: line by line, as ripgrep does

NAMES is an expression for the names of files; FILE, if not empty, is the only one that is meant.
Standard library only. Links are not followed. Files are read in the binary form; those with a NUL in their beginning are left out.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator

MOST_BYTES, MOST_OF_FILE, HEAD = 64 * 1024 * 1024, 100, 8_192
DEEPEST = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def files(folder: int, above: bytes, depth: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
    """A directory, a name in it, the path of that."""
    try:
        entries = sorted((os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in os.scandir(folder))
    except OSError:
        return
    for name, is_directory in entries:
        if not is_directory:
            yield folder, name, above + name
        elif name != b".git" and depth < DEEPEST:
            try:
                deeper = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:
                continue
            try:
                yield from files(deeper, above + name + b"/", depth + 1)
            finally:
                os.close(deeper)


def content(folder: int, name: bytes) -> bytes:
    """Empty for what is not to be searched."""
    try:
        opened = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return b""
    try:
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            return b""
        with open(opened, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES)
        return b"" if b"\0" in data[:HEAD] else data
    except OSError:
        return b""
    finally:
        os.close(opened)


def hits(wanted: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    """Of each line with a match its number and where it begins."""
    line, counted, at = 1, 0, 0
    for _ in range(MOST_OF_FILE):
        found = wanted.search(data, at)
        if found is None:
            return
        start = data.rfind(b"\n", 0, found.start()) + 1
        line, counted = line + data.count(b"\n", counted, start), start
        yield b"%d:%d:\n" % (line, start)
        at = data.find(b"\n", found.start()) + 1
        if not at:
            return


def main(pattern: str, names: str, file: str) -> None:
    wanted, about, top = re.compile(os.fsencode(pattern), re.MULTILINE), re.compile(names), os.open(".", _FOLDER)
    start = os.fsencode(file)
    for folder, name, path in [(top, start, start)] if start else files(top, b""):
        if start or about.match(os.fsdecode(name)):
            for hit in hits(wanted, content(folder, name)):
                sys.stdout.buffer.write(b"./" + path + b"\0" + hit)


if __name__ == "__main__":
    main(*sys.argv[1:])
