"""What an automation looks at, said in words."""

import pytest

from daimon.abi.watch import Watch, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.cli.watched import in_words


@pytest.mark.parametrize(
    ("watch", "told"),
    [
        (None, ""),
        (WatchFeed(("https://a.example/f",)), "the feed https://a.example/f"),
        (WatchFeed(("https://a.example/f", "https://b.example/f")), "the feeds https://a.example/f, https://b.example/f"),
        (WatchPage("https://a.example"), "the page https://a.example"),
        (WatchPage("https://a.example", ".price"), "the page https://a.example, only .price"),
        (WatchMailbox("INBOX"), "mail in INBOX"),
        (WatchFiles(("*.md", "*.txt")), "files *.md, *.txt"),
        (WatchRefs("https://a.example/r.git"), "branches and tags of https://a.example/r.git"),
        (WatchRefs("https://a.example/r.git", ("v*",)), "v* of https://a.example/r.git"),
        (WatchOutput("df -h"), "the output of df -h"),
        (WatchHook("ci"), "what the webhook ci collects"),
    ],
)
def test_each_kind_is_said_in_words(watch: Watch | None, told: str) -> None:
    assert in_words(watch) == told
