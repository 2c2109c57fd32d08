"""A report of a turn on the terminal."""

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from daimon.abi.money import dollars
from daimon.cli import screen
from daimon.kernel import words
from daimon.kernel.totals import Totals
from daimon.observe.trace import Entry, Report, Tone

TONES: dict[Tone, str] = {"plain": "", "good": "", "bad": "red", "asks": "yellow", "quiet": "dim"}
MOST_SHOWN = 4_000
INDENT = 16


def show(told: Report) -> None:
    screen.out().print(
        Text(f"turn {told.title}", "bold"),
        Padding(screen.facts(told.facts), (0, 0, 1, 2), expand=False),
        Padding(screen.facts(told.event), (0, 0, 0, 2), expand=False),
        Padding(_block(told.said), (0, 0, 1, 2), expand=False),
        *(_entry(entry, before) for entry, before in zip(told.entries, (None, *told.entries), strict=False)),
        *(Text(_cut(line), TONES["bad"]) for line in told.late),
        Text(""),
        Text(_sum(told.totals), "dim"),
    )


def _entry(entry: Entry, before: Entry | None) -> Group:
    """The whole label where it changed, else only whether it is trusted."""
    is_same = before is not None and before.label == entry.label
    head = Text.assemble(
        (f"{entry.n:>4}  ", "bold"),
        (f"{f'+{entry.after_s:.3f}s':<10}", "dim"),
        (f"{entry.kind}  ", "bold"),
        (_cut(entry.head), TONES[entry.tone]),
        (f"  {entry.label.split()[0]}" if is_same else "", "dim"),
    )
    body = [_indented(_block(line)) for line in entry.body if line]
    label = [] if is_same else [_indented(Text(f"label: {screen.plain(entry.label)}", "dim"))]
    return Group(head, *body, *label)


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, INDENT), expand=False)


def _block(text: str) -> Text:
    return Text(_cut(text))


def _cut(text: str) -> str:
    more = len(text) - MOST_SHOWN
    return screen.plain(text if more <= 0 else f"{text[:MOST_SHOWN]}… ({more} more characters; --json has them all)")


def _sum(totals: Totals) -> str:
    took = "not over" if totals.took_s is None else f"took {words.duration(totals.took_s)}"
    assumed = f", of which {dollars(totals.assumed)} assumed" if totals.assumed else ""
    under_way = f"; under way: {totals.under_way}, up to {dollars(totals.held)}" if totals.under_way else ""
    return (
        f"model calls {totals.model_calls}, tool calls {totals.tool_calls}, failures {totals.failures}; "
        f"{words.usage(totals.usage)}{assumed}{under_way}; {took}"
    )
