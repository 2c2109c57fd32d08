"""What somebody wrote, out of what a mail program sent.

Earlier text is cut away only from an answer, and only where all that is cut is plainly not theirs: quoted lines to the very end, or what
follows a line that mail programs put above the mail that they answer. Answers between quoted lines stay as they are, quotes included.
The mail itself stays whole in the mailbox.
"""

import re

from daimon.tools.markup import parsed

MOST_TEXT = 200_000
MOST_HTML = 2_000_000
MOST_LINKS = 200
MOST_SIGNATURE = 15
_BLOCKS = re.compile(r"<br\b[^>]{0,200}>|</(?:p|div|li|tr|h[1-6]|blockquote|table|ul|ol)\s{0,20}>", re.IGNORECASE)
_WROTE = r"(?:wrote|a écrit|escribió|ha scritto|escreveu|(?:schrieb|schreef|skrev).{0,120})"
_ATTRIBUTION = re.compile(rf"^(?:on|am|le|el|il|op|den|em)\b.{{3,300}}\b{_WROTE}\s*:$", re.IGNORECASE | re.DOTALL)
_ORIGINAL = re.compile(r"^-{2,} ?(original message|ursprüngliche nachricht|message d'origine|mensaje original) ?-{2,}\s*$", re.IGNORECASE)

_FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|doorst|vs|enc)\s*:", re.IGNORECASE)
_PASSED_ON = re.compile(r"(?im)^(?:-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré)|begin forwarded message)")


def from_html(source: str, is_answer: bool) -> str:
    spaced = _BLOCKS.sub("\n\\g<0>", re.sub(r"\s+", " ", source[:MOST_HTML]).replace("\0", ""))
    page = parsed(spaced)
    if (tree := page.root) is None:  # it was made to hurt whoever takes it apart
        return tidy(page.text)
    unseen = ["script", "style", "head", "title", "template", "noscript", "[hidden]", '[style*="display:none"]', '[style*="display: none"]']
    for selector in [*unseen, *([".gmail_quote", 'blockquote[type="cite"]'] if is_answer else [])]:
        for node in tree.css(selector):
            node.decompose()
    for link in tree.css('a[href^="http"]')[:MOST_LINKS]:
        address = link.attributes.get("href") or ""
        if address not in link.text():
            link.insert_after(f" ({address[:500]})")
    text = tree.root.text(deep=True) if tree.root else ""
    return tidy("\n".join(" ".join(line.split()) for line in text.split("\n")))


def tidy(text: str) -> str:
    """Without what is no text, and without runs of empty lines."""
    clean = "".join(sign for sign in text.replace("\r\n", "\n").replace("\r", "\n")[:MOST_TEXT] if sign in "\n\t" or sign >= " ")
    lines = re.sub(r"(?<![ \t\xa0])[ \t\xa0]+\n", "\n", clean + "\n")  # from where a run begins only: else its square is the time
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n").rstrip()


def fresh(text: str, is_answer: bool) -> str:
    """Without signature and, in an answer, without what it answers. All of it where nothing would be left."""
    lines = text.split("\n")
    kept = _without_signature(_without_earlier(lines) if is_answer else lines)
    return "\n".join(kept).strip() or text.strip()


def has_others(subject: str, text: str) -> bool:
    """Was some of it written by somebody else: forwarded, or quoted between the lines?"""
    return bool(_FORWARDED.match(subject) or _PASSED_ON.search(text)) or any(line.startswith(">") for line in text.split("\n"))


def _without_earlier(lines: list[str]) -> list[str]:
    for number, line in enumerate(lines):
        if _ORIGINAL.match(line):
            return lines[:number]
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith(">")):
        end -= 1
    if not any(line.lstrip().startswith(">") for line in lines[end:]):
        return lines
    for length in (1, 2, 3):  # mail programs break the line above a quote
        if end >= length and _ATTRIBUTION.match(" ".join(lines[end - length : end]).strip()):
            return lines[: end - length]
    return lines[:end]


def _without_signature(lines: list[str]) -> list[str]:
    for number in range(len(lines) - 1, max(-1, len(lines) - 2 - MOST_SIGNATURE), -1):
        if lines[number] in ("-- ", "--"):
            return lines[:number]
    return lines
