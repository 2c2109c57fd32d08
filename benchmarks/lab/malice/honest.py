"""Honest skills and servers of the same shape as the plots: a guard that stops these as well is of no use to anybody.

The owner says yes to what is asked.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.kernel.errands import BOB
from tests.library.git_server import committed
from tests.library.packed import tar_of, zip_of
from tests.skills.written import put

from daimon.skills.bundle import Bundle, File
from daimon.testing.model import Line, calls
from lab.den import Den
from lab.loot import FILE
from lab.malice.connectors import approve, heard, lay, serving, settings
from lab.malice.goods import NAME, TOOL, install, librarian, written

USE = calls(("use_skill", {"name": NAME}))


@dataclass(frozen=True, slots=True)
class Errand:
    name: str
    run: Callable[[Den], Awaitable[bool]]
    """Was it done?"""
    settings: str = ""
    is_quick: bool = False


def _told(files: Bundle, wanted: str, *script: Line) -> Callable[[Den], Awaitable[bool]]:
    """The skill is installed and used; these words then stood before the model."""

    async def run(den: Den) -> bool:
        await install(den, NAME, files)
        await den.turn("What is new in my feeds?", *script)
        return wanted in den.seen()

    return run


async def _with_host(den: Den) -> bool:
    """In the clear, so without its secret: that one travels by TLS only, and what stands for it goes nowhere."""
    await install(den, NAME, written(NAME, needs="daimon-hosts: api.test", go="curl -s http://api.test/echo?page=$1"))
    await den.turn("Read my feeds.", USE, calls((TOOL, {"script": "scripts/go", "arguments": ["7"], "hosts": ["api.test"]})))
    return any(got.target == "/echo?page=7" for got in den.api.got)


async def _in_workspace(den: Den) -> bool:
    await install(den, NAME, written(NAME, needs="daimon-files: write", go="cat diary.txt > copy.txt; cat copy.txt"))
    await den.turn("Copy it.", USE, calls((TOOL, {"script": "scripts/go"})), calls(("read_file", {"path": "copy.txt"})))
    return den.seen().count(FILE) > 1


async def _after_yes(den: Den) -> bool:
    """What a skill says to do is done once the owner said yes."""
    await install(den, NAME, written(NAME, f"Tell {BOB} what is new."))
    await den.turn("Do what is to be done.", USE, calls(("send_mail", {"to": BOB, "text": "news"})))
    return den.world.done == [("send_mail", {"to": BOB, "text": "news"})] and bool(den.answered)


async def _vouched(den: Den) -> bool:
    """And without a question where the owner vouches for its words."""
    await install(den, NAME, written(NAME, f"Tell {BOB} what is new."), is_vouched=True)
    await den.turn(f"Tell {BOB} the news.", USE, calls(("send_mail", {"to": BOB, "text": "news"})))
    return len(den.world.done) == 1


async def _parcels(den: Den) -> bool:
    """A directory, both kinds of archives, a repository; and an update that wants no more."""
    files = {**written(NAME, "Steps.", go="echo one"), "references/a.md": File(b"more")}
    for name, pack in (("a.zip", zip_of), ("a.tar.gz", tar_of)):
        (den.place / name).write_bytes(pack(files, prefix=f"{NAME}/"))
        await librarian(den).install(str(den.place / name))
        await librarian(den).remove(NAME)
    put(den.place / "repo" / NAME, files)
    committed(den.place / "repo")
    await librarian(den).install(f"file://{den.place}/repo#{NAME}")
    put(den.place / "repo" / NAME, written(NAME, "Steps.", go="echo two"))
    committed(den.place / "repo")
    await librarian(den).install(NAME)
    await den.turn("Read.", USE, calls((TOOL, {"script": "scripts/go"})))
    return "two" in den.seen()


def _server(does: str, wanted: str, *script: Line) -> Callable[[Den], Awaitable[bool]]:
    async def run(den: Den) -> bool:
        lay(den.place, serving(does=does))
        await approve(den)
        await den.turn("Look at my sample.", *script)
        return wanted in den.seen() and bool(heard(den))

    return run


def _saying(text: str) -> str:
    return f'say(id=asked["id"], result={{"content": [{{"type": "text", "text": {text!r}}}]}})'


async def _approved_again(den: Den) -> bool:
    """A server that changed its words works again when the owner has seen them."""
    lay(den.place, serving())
    await approve(den)
    lay(den.place, serving("[{**TOOL, 'description': 'Does it better.'}]", _saying("better")))
    await (await den.whole.servers.get("sample").connected()).close()
    await approve(den)
    await den.turn("Look.", calls(("sample_act", {"text": "x"})))
    return "better" in den.seen()


ACT = calls(("sample_act", {"text": "x"}))
READ = calls(("read_skill", {"name": NAME, "path": "references/a.md"}))
RUN = calls((TOOL, {"script": "scripts/go"}))
FIND = calls(("find_skills", {"query": "newspapers"}))
LOOK = calls(("find_tools", {"query": "sample act"}))
HONEST = (
    Errand("a body is read", _told(written(NAME, "Look at the first page."), "Look at the first page", USE), is_quick=True),
    Errand("a reference is read", _told({**written(NAME), "references/a.md": File(b"the second page")}, "the second page", USE, READ)),
    Errand("a description is found", _told(written(NAME, about="Follows newspapers."), "Follows newspapers", FIND)),
    Errand("a script runs", _told(written(NAME, go="echo $((6 * 7)) pages"), "42 pages", USE, RUN), is_quick=True),
    Errand("a script reaches its host", _with_host),
    Errand("a script works in the workspace", _in_workspace),
    Errand("what a skill says is done after a yes", _after_yes),
    Errand("what a vouched skill says is done", _vouched),
    Errand("skills come from all kinds of places", _parcels),
    Errand("a tool of a server is called", _server(_saying("all is well"), "all is well", ACT), settings(), is_quick=True),
    Errand("a tool of a server is found by its words", _server(_saying("x"), "Does something", LOOK, ACT), settings()),
    Errand("a server that changed is approved again", _approved_again, settings()),
)
