"""Markdown as each channel writes it, and nothing that a hostile text could smuggle through."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daimon.gateway.notation import html, plain, slack, telegram

ALL = [telegram.render, slack.render, html.render, plain.render]
TEXT = """# News

Some **bold**, *soft* and ~~old~~ words, `x < 1`, [a page](https://example.org/?a=1&b=2).

- one
- two
  1. inner

> said & done

```python
if a < b: pass
```

| a | b |
|---|---|
| 1 | 22 |
"""


def test_telegram_gets_its_own_tags() -> None:
    said = telegram.render(TEXT)
    assert said.startswith("<b>News</b>\n\nSome <b>bold</b>, <i>soft</i> and <s>old</s> words, <code>x &lt; 1</code>,")
    assert '<a href="https://example.org/?a=1&amp;b=2">a page</a>.' in said
    assert "• one\n• two\n  1. inner" in said
    assert "<blockquote>said &amp; done</blockquote>" in said
    assert '<pre><code class="language-python">if a &lt; b: pass</code></pre>' in said
    assert said.endswith("<pre>a  b\n1  22</pre>")


def test_slack_gets_its_own_signs() -> None:
    said = slack.render(TEXT)
    assert said.startswith("*News*\n\nSome *bold*, _soft_ and ~old~ words, `x &lt; 1`, <https://example.org/?a=1&amp;b=2|a page>.")
    assert "> said &amp; done" in said
    assert "```\nif a &lt; b: pass\n```" in said


def test_matrix_and_mail_get_plain_html() -> None:
    said = html.render(TEXT)
    assert said.startswith("<h1>News</h1><p>Some <strong>bold</strong>, <em>soft</em> and <del>old</del> words,")
    assert "<ul><li>one</li><li>two<ol><li>inner</li></ol></li></ul>" in said
    assert "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>22</td></tr></tbody></table>" in said


def test_bare_text_keeps_links_and_indents_code() -> None:
    said = plain.render(TEXT)
    assert "Some bold, soft and old words, x < 1, a page (https://example.org/?a=1&b=2)." in said
    assert "\n    if a < b: pass" in said


@pytest.mark.parametrize("render", ALL)
@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>)",
        "![x](file:///etc/passwd)",
        "<javascript:alert(1)>",
        "[x](https://a.example/\"onmouseover='alert(1)')",
        "<!channel> <@U123>",
        "```\n</code></pre><script>",
        '```"><script>\nx\n```',
    ],
)
def test_nothing_that_acts_passes(render: object, hostile: str) -> None:
    said = render(hostile)  # type: ignore[operator]
    if render is plain.render:
        assert said
        return
    assert not [tag for tag in _tags(said) if tag not in ALLOWED], said
    assert "<script" not in said
    assert "<!channel" not in said
    assert "<@" not in said
    assert 'href="javascript' not in said
    assert "<javascript" not in said


@pytest.mark.parametrize("render", ALL)
def test_an_unclosed_block_of_code_is_a_block_of_code(render: object) -> None:
    assert "a = 1" in render("before\n\n```python\na = 1")  # type: ignore[operator]


@pytest.mark.parametrize("render", ALL)
@pytest.mark.parametrize("deep", ["> " * 500 + "word", "- " * 500 + "word", "\n".join("  " * n + "- word" for n in range(300))])
def test_what_is_nested_without_end_keeps_its_words(render: object, deep: str) -> None:
    assert "word" in render(deep)  # type: ignore[operator]


@pytest.mark.parametrize("render", ALL)
def test_nothing_stays_nothing(render: object) -> None:
    assert render(" \n\n ") == ""  # type: ignore[operator]


@given(st.text(alphabet=st.sampled_from("ab <>&*_`~[]()|#->.!\"'\n\t1\\:😀"), max_size=200))
@settings(max_examples=150, deadline=None)
def test_whatever_is_written_becomes_well_formed(text: str) -> None:
    for render in (telegram.render, html.render):
        balanced(render(text))
    slack.render(text)
    plain.render(text)


ALLOWED = frozenset(
    "b i s a code pre blockquote p strong em del ul ol li h1 h2 h3 h4 h5 h6 hr br table thead tbody tr th td".split()  # noqa: SIM905
)


def balanced(said: str) -> None:
    """Every tag is known and closed in order, as Telegram demands."""
    parser = _Parser()
    parser.feed(said)
    parser.close()
    assert parser.open == [], said


def _tags(said: str) -> list[str]:
    parser = _Parser(is_strict=False)
    parser.feed(said)
    return [tag for tag in parser.seen if not tag.startswith(("https:", "http:"))]


class _Parser(HTMLParser):
    def __init__(self, is_strict: bool = True) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self._is_strict = is_strict

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if self._is_strict:
            assert tag in ALLOWED
            assert {name for name, _ in attrs} <= {"href", "class", "start"}
        if tag not in ("hr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._is_strict:
            assert self.open.pop() == tag
