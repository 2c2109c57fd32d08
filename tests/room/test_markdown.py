"""A model's Markdown as HTML."""

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from daimon.gateway.room import markdown
from daimon.gateway.room.markdown import Markdown, rendered


def html(text: str) -> str:
    return rendered(text).html


def test_headings_lists_tables_and_code_are_shown() -> None:
    made = html("# One\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```python\na < b\n```\n\n**bold** ~~gone~~")
    for tag in ("<h3", "<ul", "<li", "<table>", "<td", '<code class="language-python">a &lt; b', "<strong>bold</strong>", "<s>gone</s>"):
        assert tag in made


def test_links_open_elsewhere_and_tell_nobody_where_from() -> None:
    made = html("[x](https://example.org/a) and https://example.org/b?c=1&d=2. Also <me@example.org>")
    assert made.count('target="_blank" rel="noopener noreferrer"') == 3
    assert 'href="https://example.org/b?c=1&amp;d=2"' in made
    assert 'href="mailto:me@example.org"' in made


@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        "[x](vbscript:x)",
        "[x](/v1/reload)",
        "[x](//evil.example)",
        "![x](javascript:alert(1))",
        "<https://a.example/\" onmouseover=alert(1)>",
        "```x\" onload=alert(1)\ny\n```",
        "```<svg/onload=alert(1)>\ny\n```",
        '[x](https://a.example "t\\" onmouseover=alert(1)")',
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "https://a.example/<script>alert(1)</script>",
        '<a id="content" class="button is-primary" href="https://a.example">x</a>',
        "<iframe src=https://a.example></iframe>",
        "<form action=https://a.example><button>x</button></form>",
        "<base href=https://a.example>",
    ],
)  # fmt: skip
def test_nothing_of_a_text_becomes_a_script_a_frame_or_a_handler(bad: str) -> None:
    tree = HTMLParser(html(bad))
    assert tree.body is not None
    for node in tree.body.traverse():
        assert node.tag in markdown._TAGS | {"body"}, html(bad)
        assert set(node.attributes) <= {"href", "target", "rel", "dir", "class", "start"}, html(bad)
        assert (node.attributes.get("href") or "https://").startswith(("https://", "mailto:"))
        assert (node.attributes.get("class") or "language-").startswith("language-")


def test_pictures_are_not_loaded_but_linked() -> None:
    made = html("![a chart](https://tracker.example/p.png?who=me)")
    assert "<img" not in made
    assert 'href="https://tracker.example/p.png?who=me"' in made
    assert "a chart (picture, not loaded" in made


def test_text_may_not_turn_the_order_of_others_round_and_finds_its_own_direction() -> None:
    made = html("שלום\n\n\u202egpj.exe\u2066")
    assert 'dir="auto">שלום' in made
    assert "\u202e" not in made
    assert "\u2066" not in made


def test_a_long_text_is_cut_and_says_so() -> None:
    made = rendered("word " * 20_000)
    assert made.is_cut
    assert len(made.html) < 2 * markdown.MOST_CHARS


def test_secrets_are_taken_out_before_they_become_markup() -> None:
    made = Markdown(lambda text: text.replace("a&b<c", "[secret]")).render("the key is a&b<c")
    assert "a&amp;b" not in made.html
    assert "[secret]" in made.html


def test_what_was_made_is_kept_up_to_a_bound() -> None:
    keeping = Markdown()
    assert keeping.render("*x*") is keeping.render("*x*")
    for n in range(200):
        keeping.render(f"{n} " + "y " * 15_000)
    assert keeping._kept_chars <= markdown.MOST_KEPT_CHARS
