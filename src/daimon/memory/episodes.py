"""Episodes: one for each turn that is over, made from its steps by rules. They are only ever added.

An episode says what was asked, which tools were used and how they went, what was said at the end, and how the turn ended. What a turn used
is gathered step by step in `acts`, because steps come one at a time and a turn may park for weeks. A turn of which something was erased has
no episode: it would tell of what is gone.
"""

from collections import Counter
from typing import Any

import apsw

from daimon.abi.ids import TurnId
from daimon.abi.label import join
from daimon.abi.memory import Item
from daimon.abi.message import ToolResult
from daimon.abi.step import Complete, Happened, Intended, StepBody
from daimon.abi.turn import Turn
from daimon.memory import items
from daimon.memory.receipt import Receipt

LONGEST = 400
_ERASED = "erased"
_MESSAGES = """
    SELECT text, label, source = ?2 FROM items WHERE turn = ?1 AND kind = 'message' AND space = ?3 AND principal = ?4 AND is_deleted = 0
    ORDER BY n
"""
_LOST = """
    SELECT EXISTS (SELECT 1 FROM acts WHERE turn = ?1 AND tool = '' AND code = 'erased')
        OR EXISTS (SELECT 1 FROM items WHERE kind = 'message' AND is_deleted = 1 AND (turn = ?1 OR source = ?2))
"""


def note(connection: apsw.Connection, turn: TurnId, n: int, body: StepBody) -> None:
    match body:
        case Intended(tool=tool):
            connection.execute("INSERT OR IGNORE INTO acts VALUES (?, ?, ?, '')", (turn, n, items.sane(tool)))
        case Happened(intent=intent, result=ToolResult(), code=code) if code:
            connection.execute("UPDATE acts SET code = ? WHERE turn = ? AND step = ?", (items.sane(code), turn, intent))
        case _:
            pass


def lose(connection: apsw.Connection, turn: TurnId, n: int) -> None:
    """A step whose words are gone."""
    connection.execute("INSERT OR REPLACE INTO acts VALUES (?, ?, '', ?)", (turn, n, _ERASED))


def close(connection: apsw.Connection, receipt: Receipt, turn: Turn | None, decision: Complete) -> None:
    event = "" if turn is None else turn.event
    acts: list[Any] = connection.execute("SELECT tool, code FROM acts WHERE turn = ? ORDER BY step", (receipt.turn,)).fetchall()
    said: list[Any] = connection.execute(_MESSAGES, (receipt.turn, event, receipt.space, receipt.principal)).fetchall()
    is_lost = bool(connection.execute(_LOST, (receipt.turn, event)).get)
    connection.execute("DELETE FROM acts WHERE turn = ?", (receipt.turn,))
    id_ = f"episode:{receipt.turn}"
    if is_lost or not (acts or said) or items.is_known(connection, receipt, id_):
        return
    asked = next((text for text, _, is_asked in said if is_asked), "")
    answer = next((text for text, _, is_asked in reversed(said) if not is_asked), "")
    label = join((receipt.label, *(items.read_label(label) for _, label, _ in said)))
    items.add(connection, receipt, Item(
        id=id_, kind="episode", text=_told(asked, acts, answer, decision), at=receipt.at, label=label, source=receipt.source,
        conversation="" if turn is None else turn.conversation,
    ))  # fmt: skip


def _told(asked: str, acts: list[tuple[str, str]], answer: str, decision: Complete) -> str:
    ending = f"Ended: {decision.ending.value}" + (f" ({_short(decision.reason)})" if decision.reason else "")
    used = f"Used: {_used(acts)}" if acts else ""
    told = (f"Asked: {_short(asked)}" if asked else "", used, f"Answered: {_short(answer)}" if answer else "", ending)
    return "\n".join(line for line in told if line)


def _used(acts: list[tuple[str, str]]) -> str:
    counted = Counter(f"{tool} ({code})" if code else tool for tool, code in acts)
    return ", ".join(what if times == 1 else f"{what} ×{times}" for what, times in counted.items())


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
