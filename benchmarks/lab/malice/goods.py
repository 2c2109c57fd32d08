"""Skills, written down and brought into a den as an owner would: seen, agreed to, installed."""

from pathlib import Path

from tests.skills.written import put

from daimon.abi.skill import Installed, script_tools_of
from daimon.boot.librarian import librarian_of
from daimon.library.librarian import HomeLibrarian
from daimon.skills.bundle import Bundle, File
from lab.den import Den

NAME = "read-feeds"
VOUCHED, TOOL = script_tools_of(NAME)
"""What runs its scripts, where somebody vouches for it and where nobody does."""


def written(name: str, body: str = "Steps.", about: str = "Read feeds and tell what is new.", needs: str = "", **scripts: str) -> Bundle:
    """`needs`: lines of the metadata. Scripts by name, with `__` for the dot of `.py`; others are for `/bin/sh`."""
    lines = "".join(f"  {line}\n" for line in needs.split(";") if line)
    head = f"---\nname: {name}\ndescription: {about}\n{f'metadata:{chr(10)}{lines}' if lines else ''}---\n{body}\n"
    run = {f"scripts/{each.replace('__', '.')}": _script(each, text) for each, text in scripts.items()}
    return {"SKILL.md": File(head.encode()), **run}


def _script(name: str, text: str) -> File:
    return File(text.encode()) if name.endswith("__py") else File(f"#!/bin/sh\n{text}\n".encode(), True)


async def install(den: Den, name: str, files: Bundle, is_approved: bool = True, is_vouched: bool = False) -> Installed:
    got = await librarian(den).install(str(put(den.place / "from" / name, files)), is_approved=is_approved)
    return await librarian(den).change(got.name, "vouch") if is_vouched else got


def librarian(den: Den) -> HomeLibrarian:
    return librarian_of(den.whole)


def shelf(den: Den, name: str) -> Path:
    """Where its files lie."""
    return den.home.skills / name / den.whole.skills.library.get(name).version
