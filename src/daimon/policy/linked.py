"""Which addresses may be looked at after strangers were read: those that the owner wrote, and links of the pages that the owner named.

A link that a page holds for its own host was written before anything was known here, and goes to nobody whom the owner did not name: it
can carry away which of the page's links it is, and nothing else. So it counts only while nothing private was read in the turn, only for
the very host that was asked, letter for letter as the page has it, and so many times.
"""

import re

from daimon.abi.fields import leaves
from daimon.abi.judgement import Seen
from daimon.policy.act import Act, flat, is_private
from daimon.policy.names import canonical
from daimon.policy.records import plain
from daimon.policy.words import one_line, says

MOST = 10
"""Links of one turn: each tells its host which one was taken."""
_BEGINNING = re.compile(r"^https?://", re.IGNORECASE)
_HOST = re.compile(r"^(?:https?://)?([^/?#\s]+)", re.IGNORECASE)


def is_written(said: str, text: str) -> bool:
    """Letter for letter behind the host: capital letters could carry words away, one bit each. People leave out how an address begins."""
    rest = canonical(text).partition("/")[2]
    bare = _BEGINNING.sub("", text).removesuffix("/")
    return any(says(said, each) for each in (text, bare)) and rest in one_line(said)


def is_linked(act: Act, text: str) -> bool:
    situation = act.situation
    if not _BEGINNING.match(text) or any(map(is_private, (*situation.seen, *situation.before))):
        return False
    pages = [seen for seen in situation.seen if seen.tool == act.manifest.name]
    named = [page for page in pages if _asked_for(page) and any(is_written(situation.said, each) for each in _asked_for(page))]
    followed = {each for page in pages if page not in named for each in _asked_for(page)} - {text}
    return len(followed) < MOST and any(_holds(page, text) for page in named)


def _asked_for(page: Seen) -> tuple[str, ...]:
    return flat(page.arguments)


def _holds(page: Seen, text: str) -> bool:
    """As a whole: the beginning of a link is another address."""
    if not any(_host(each) == _host(text) for each in _asked_for(page)):
        return False
    whole = re.compile(rf"(?<![\w/.:%-]){re.escape(text)}(?![\w/%?&=#~+.-]*[\w/%?&=#~+-])")
    return any(whole.search(plain(leaf.value)) for leaf in leaves(page.data) if leaf.value is not None)


def _host(text: str) -> str:
    found = _HOST.match(text)
    return found[1].lower() if found else ""
