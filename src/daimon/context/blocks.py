"""Messages that are made for a prompt: the page, what was recalled, skills that may fit, what is left out, what the model must know now.

Each says in brackets what it is, so that a model can tell it from what somebody said. A block carries the label of all that is in it. The
first four are kept by the hash of their bytes and shown again just so; notices are made anew each time and stand last.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby

from daimon.abi.codec import blob_hash, encode
from daimon.abi.context import Block, Entry
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.memory import Hit, Item, Page, Reason, Recalled
from daimon.abi.message import Message, Role, said
from daimon.abi.skill import Suggestion
from daimon.abi.step import ContextRef
from daimon.context.compress import clip
from daimon.context.tokens import PER_MESSAGE, estimate, first, of_text

OURS = Label.of(Origin(Author.SERVICE, "daimon"))
MOST_NAME = 60
LEAST_SAME, MOST_SAME = 12, 600
"""Characters of a text that is compared with others."""
LINE = 160
"""Tokens of one recalled line."""
MOST_SKILLS, SKILL, HEARD = 380, 60, 20
"""Tokens of all skills that are suggested, of what is told of one, and of the words that brought up a stranger's."""
MOST_SUMMARY = 600
MOST_WRITTEN = 260
"""Tokens of what a model wrote of some turns."""
MOST_ASKED, MOST_ANSWERED = 160, 240
"""Characters of what was asked and answered, in the summary of a turn."""
_OF_TURN = re.compile(r"- [\d-]+ [\d:]+ \((\S+)\) ")
_NAME = re.compile(r"[\w.:-]{1,64}", re.ASCII)
MOST_NOTICES = 200
MOST_TOOLS = 12
"""Named in the summary of a turn."""
MOST_PATH = 120
LEAST_BLOCK = 64
"""Fewer tokens are not worth a block."""
_CUT = "\n… (there is more of it than there is room for)"
_MORE = "- and {} more"
_OLDER = "(Older turns are left out here as well.)"
_SUMMARY = "[earlier] Not shown any more, in short. `recall` finds the words."
_MEMORY = "[memory] Recalled for what comes next. It was said then; it may not hold now."
_SKILLS = "[skills] May fit what comes next. If one does, read it with `use_skill` before you work out a way of your own."
_FULL = "(It is full, and these did not fit: {}. Merge notes with `remember`, or keep them off the page.)"
MOST_LEFT_OUT = 5
_PAGE = "[page] What you keep in mind at all times. `remember` changes it."


def block(message: Message, refs: Iterable[ContextRef] = ()) -> Block:
    return Block(blob_hash(encode(Message, message)), message, tuple(refs))


def page(found: Page) -> Block | None:
    if not found.notes:
        return None
    lines = [f"- {' '.join(note.text.split())} ({note.id})" for note in found.notes]
    lines += [_FULL.format(", ".join(found.left_out[:MOST_LEFT_OUT]))] if found.left_out else []
    message = said(Role.USER, "\n".join((_PAGE, *lines)), join(note.label for note in found.notes))
    return block(message, (ContextRef("quote", note.source) for note in found.notes))


def memory(recalled: Recalled, tokens: int) -> Block | None:
    """As many of the best hits as there is room for, in the order of time, by days. References stand in the order of the lines."""
    kept: list[Hit] = []
    left, days = tokens - PER_MESSAGE - of_text(_MEMORY), set[date]()
    for hit in recalled.hits:
        day = hit.item.at.date()
        size = of_text(_line(hit)) + 1 + (0 if day in days else of_text(_day(day)) + 1)
        if size <= left and not _is_told(hit, kept):  # else something shorter may fit
            kept.append(hit)
            days.add(day)
            left -= size
    if not kept:
        return None
    kept.sort(key=lambda hit: (hit.item.at, hit.item.id))
    lines = (line for day, hits in groupby(kept, key=lambda hit: hit.item.at.date()) for line in (_day(day), *map(_line, hits)))
    message = said(Role.USER, "\n".join((_MEMORY, *lines)), join(hit.item.label for hit in kept))
    return block(message, (ref for hit in kept for ref in _refs(hit)))


def skills(suggested: Iterable[Suggestion], tokens: int = MOST_SKILLS) -> Block | None:
    """As many of the best as there is room for. Of those that nobody vouches for no word of their author's is told."""
    kept: list[tuple[str, Suggestion]] = []
    left = tokens - PER_MESSAGE - of_text(_SKILLS)
    for each in suggested:
        line = _offered(each)
        if _NAME.fullmatch(each.called) and (size := of_text(line) + 1) <= left:
            kept.append((line, each))
            left -= size
    if not kept:
        return None
    message = said(Role.USER, "\n".join((_SKILLS, *(line for line, _ in kept))), join({OURS, *(each.label for _, each in kept)}))
    return block(
        message, (ref for _, each in kept for ref in (ContextRef("skill", each.called), ContextRef("why", f"{each.called} {each.why}")))
    )


def _offered(each: Suggestion) -> str:
    if about := first(" ".join(each.description.split()), SKILL):
        return f"- {each.called}: {about}"
    return f'- {each.called}: written by a stranger, for "{first(each.heard, HEARD)}"' if each.heard else f"- {each.called}"


def fitted(made: Block | None, tokens: int) -> Block | None:
    """A block that is too long for its share keeps its beginning; where nothing of it would be left it is none."""
    if made is None or estimate(made.message) <= tokens:
        return made
    if tokens < LEAST_BLOCK:
        return None
    text = f"{first(made.message.text, tokens - PER_MESSAGE - of_text(_CUT))}{_CUT}"
    return block(said(made.message.role, text, made.message.label), made.refs)


def summary(before: Message | None, gone: Sequence[Entry], tokens: int = MOST_SUMMARY) -> Block | None:
    """What leaves the window, a line for each turn, after what left it earlier. The oldest lines make room, and leave its label too."""
    if tokens < LEAST_BLOCK:
        return None
    return _earlier(_lines(before, gone), tokens, has_older=before is not None and _OLDER in before.text)


def rewritten(before: Block, written: Sequence[Item], tokens: int = MOST_SUMMARY) -> Block:
    """The same with what a model wrote in place of the lines of its turns. Done once more it gives the same bytes."""
    covered = {name for item in written for name in (item.source, *item.supersedes)}
    lines = [(turn[1], line, before.message.label) for line in _kept(before.message) if (turn := _OF_TURN.match(line))]
    lines = [each for each in lines if each[0] not in covered]
    lines += [(max(item.supersedes), _written(item), item.label) for item in written]
    newest = [(line, label) for _, line, label in sorted(lines, key=lambda each: each[0], reverse=True)]
    return _earlier(newest, tokens, has_older=_OLDER in before.message.text) or before


def _written(item: Item) -> str:
    return f"- {item.at:%Y-%m-%d %H:%M} ({item.source}) in short: {first(' '.join(item.text.split()), MOST_WRITTEN)}"


def _earlier(lines: Iterable[tuple[str, Label]], tokens: int, *, has_older: bool) -> Block | None:
    """As many of the newest lines as there is room for."""
    left, kept, labels, has_all = tokens - PER_MESSAGE - of_text(f"{_SUMMARY} {_OLDER}"), list[str](), list[Label](), False
    for line, label in lines:
        size = of_text(line) + 1
        if size > left and kept:
            break
        kept.insert(0, line if size <= left else first(line, left - 1))
        labels.append(label)
        left -= size
    else:
        has_all = not has_older
    if not kept:
        return None
    head = _SUMMARY if has_all else f"{_SUMMARY} {_OLDER}"
    message = said(Role.USER, "\n".join((head, *kept)), join({OURS, *labels}))
    return block(message, (ContextRef("quote", turn[1]) for line in kept if (turn := _OF_TURN.match(line))))


def _lines(before: Message | None, gone: Sequence[Entry]) -> Iterator[tuple[str, Label]]:
    """With whose words are in them; the newest first."""
    for _, entries in groupby(reversed(gone), key=lambda entry: entry.turn):
        yield _turn(list(entries)[::-1])
    if before is not None:
        yield from ((line, before.label) for line in reversed(_kept(before)))


def _kept(before: Message) -> list[str]:
    return [line for line in before.text.split("\n")[1:] if line.startswith("- ")]


def notices(errors: Sequence[Entry], stale: Mapping[str, str], tokens: int = MOST_NOTICES) -> Message | None:
    """What is true now and stands nowhere else. No words of others are in it: only names of tools, files and steps."""
    lines = [f"- not resolved: {_tool(entry)} failed (recall ref={entry.source})" for entry in errors]
    lines += [f"- changed since you read it: {_name(path)}{f' ({where})' if where else ''}; read it again" for path, where in stale.items()]
    left, kept = tokens - PER_MESSAGE - of_text("[now]") - of_text(_MORE) - 8, list[str]()
    for line in lines:
        left -= of_text(line) + 1
        if left < 0:
            break
        kept.append(line)
    if len(kept) < len(lines):
        kept.append(_MORE.format(len(lines) - len(kept)))
    return said(Role.USER, "\n".join(("[now]", *kept)), OURS) if kept else None


def _tool(entry: Entry) -> str:
    """A model may call tools by any name; only what is one is told."""
    name = entry.subject.split(" ", 1)[0]
    return name if _NAME.fullmatch(name) else "a call"


def _name(path: str) -> str:
    return " ".join(path[:MOST_PATH].split()) + ("…" if len(path) > MOST_PATH else "")


def why(refs: Iterable[ContextRef]) -> dict[str, str]:
    """By the id of a recalled item: why it was one."""
    return {ref.ref.partition(" ")[0]: ref.ref.partition(" ")[2] for ref in refs if ref.what == "why"}


def _is_told(hit: Hit, kept: Sequence[Hit]) -> bool:
    """A note, what was said when it was made, and the answer to that say the same thing three times."""
    mine = _plain(hit)
    return len(mine) >= LEAST_SAME and any(mine in (other := _plain(one)) or (other in mine and len(mine) < 2 * len(other)) for one in kept)


def _plain(hit: Hit) -> str:
    return " ".join(hit.item.text[:MOST_SAME].casefold().split())


def _day(day: date) -> str:
    return f"{day:%A, %d %B %Y}"


def _line(hit: Hit) -> str:
    item = hit.item
    who = f"{' '.join(item.speaker.split())[:MOST_NAME]}: " if item.speaker.strip() else ""
    return f"- {who}{clip(' '.join(item.text.split()), item.id, LINE)}"


def _refs(hit: Hit) -> tuple[ContextRef, ...]:
    item, reasons = hit.item, ", ".join(map(_reason, hit.why))
    return ContextRef("quote", item.source), ContextRef("memory", item.id), ContextRef("why", f"{item.id} {reasons}")


def _reason(reason: Reason) -> str:
    rank = f" {reason.rank}" if reason.rank else ""
    return f"{reason.by}{rank}" + (f" ({reason.note})" if reason.note else "")


def _turn(entries: list[Entry]) -> tuple[str, Label]:
    asked = next((entry for entry in entries if entry.sort == "said"), None)
    reply = next((entry for entry in reversed(entries) if entry.sort == "reply" and entry.whole.text), None)
    used = Counter(_tool(entry) for entry in entries if entry.sort == "result")
    did = ", ".join(f"{tool} ×{times}" if times > 1 else tool for tool, times in list(used.items())[:MOST_TOOLS])
    parts = [f"asked: {_short(asked.whole.text, MOST_ASKED)}"] if asked else []
    parts += [f"used {did}"] if did else []
    parts += [f"answered: {_short(reply.whole.text, MOST_ANSWERED)}"] if reply else []
    label = join([OURS, *(entry.label for entry in (asked, reply) if entry is not None)])
    return f"- {entries[0].at:%Y-%m-%d %H:%M} ({entries[0].turn}) {'; '.join(parts)}", label


def _short(text: str, most: int) -> str:
    plain = " ".join(text[: 4 * most].split())
    return plain if len(plain) <= most else f"{plain[:most]}…"
