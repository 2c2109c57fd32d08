"""What the agent keeps for later: remember, recall, forget.

Remembering and forgetting are operations: they take effect in the transaction that records the outcome, so a killed call has done
nothing and may simply be run again. A note's id comes from the call's key; run twice, it is the same note.

A note is labelled with the step that made it. Its words are the model's, so the result of `remember` carries what the model was under
(`call.label`): a stranger's words do not come out of memory as trusted ones. `recall` hands back every item with the label that it was
stored with, and their join for the whole; it finds notes, facts and what was said, but not what belongs to the turn that asks. With a
`ref`, as it stands where something was left out of the window, it reads that piece of the journal instead, with its own label: what the
model could have seen there, if it was for the one who asks.

Where a stranger's words are in the turn, what the owner said is not forgotten: a page must not take away what its reader goes by.

The page is part of every prompt and holds only so much. A note that does not fit is refused, with what stands there and how much must go:
the model merges, and nothing is dropped behind its back.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.codec import fingerprint
from daimon.abi.errors import Erased, NotFound, ToolFailed
from daimon.abi.label import Author, join
from daimon.abi.memory import Forget, Hit, Memory, Page, Query, Remember, Texts, Whole
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_Text = Annotated[str, Field(min_length=1, max_length=4000)]
MOST_READ = 8_000
"""Characters of one piece of a text."""
_Id = Annotated[str, Field(min_length=1, max_length=64)]


def notes_tools(memory: Memory, texts: Texts) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "notes"))
    async def remember(
        call: Call,
        text: Annotated[_Text, ArgumentRole.CONTENT, "What to keep, complete in itself: names, dates, context."],
        on_page: Annotated[bool, "Put it in every prompt."] = False,
        replaces: Annotated[list[str], ArgumentRole.TARGET, "Note ids."] = [],  # noqa: B006 - never changed
    ) -> Result:
        """Keep a note for later turns: facts, wishes and promises that will matter again."""
        if on_page:
            _require_room(await memory.page(call.space, call.principal), text, replaces, call)
        note = f"note_{fingerprint(str, call.key)}"
        return Result({"note": note}, operations=(Remember(text, note, on_page, tuple(replaces)),), labels={"": call.label})

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "notes"))
    async def recall(
        call: Call,
        query: Annotated[str, ArgumentRole.QUERY, "Words to look for; empty: the newest.", Field(max_length=400)] = "",
        limit: Annotated[int, "At most.", Field(ge=1, le=20)] = 8,
        ref: Annotated[str, ArgumentRole.TARGET, "Instead: read the whole of what a ref or id stands for.", Field(max_length=200)] = "",
        from_character: Annotated[int, "Of that, where to begin.", Field(ge=0)] = 0,
    ) -> Result:
        """Search notes and what was said, best first; or read in full what was left out."""
        if ref:
            return _piece(await _whole(memory, texts, call, ref), ref, from_character)
        found = await _found(memory, call, query, limit)
        data: list[JsonValue] = [_shown(hit) for hit in found]
        labels = {f"/notes/{i}": hit.item.label for i, hit in enumerate(found)}
        return Result({"notes": data}, labels=labels | ({"": join(labels.values())} if labels else {}))

    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "notes"))
    async def forget(
        call: Call,
        note: Annotated[_Id, ArgumentRole.TARGET, "The id of the note, as recall gave it."],
    ) -> Result:
        """Forget a note that is wrong, outdated or no longer wanted."""
        await _require_may_end(memory, call, note)
        return Result({"forgotten": note}, operations=(Forget(note),), labels={"": call.label})

    return (remember, recall, forget)


async def _require_may_end(memory: Memory, call: Call, note: str) -> None:
    """Memory would not do it either; but whoever asked must hear of it."""
    if call.label.is_trusted:
        return
    try:
        item = await memory.item(call.space, call.principal, note)
    except NotFound:
        return
    if item.label.is_trusted and item.ended_at is None:
        told = f"{note} is the owner's word, and a stranger's are in this turn; the owner forgets it with `daimon memory forget {note}`"
        raise ToolFailed("not_trusted", f"{told}, or asks in a new conversation")


async def _whole(memory: Memory, texts: Texts, call: Call, ref: str) -> Whole:
    try:
        return await texts.whole(call.space, call.principal, ref)
    except Erased as gone:
        raise ToolFailed("erased", str(gone)) from gone
    except NotFound as unknown:
        try:
            item = await memory.item(call.space, call.principal, ref)
        except NotFound:
            raise ToolFailed("not_found", str(unknown)) from unknown
        if not item.label.may_be_read_by(call.principal):
            raise ToolFailed("not_found", str(unknown)) from unknown
        return Whole(item.text, item.label)


def _piece(whole: Whole, ref: str, first: int) -> Result:
    text = whole.text[first : first + MOST_READ]
    if first and not text:
        raise ToolFailed("past_the_end", f"{ref} has {len(whole.text)} characters; begin before that")
    data: dict[str, JsonValue] = {"ref": ref, "text": text, "characters": len(whole.text)}
    if (end := first + len(text)) < len(whole.text):
        data["go_on_from_character"] = end
    return Result(data, labels={"": whole.label, "/text": whole.label})


async def _found(memory: Memory, call: Call, text: str, limit: int) -> tuple[Hit, ...]:
    """What was kept comes first, because what was said often is: half of the places are for each, if there is that much."""
    turn = call.key.rpartition(":")[0]
    query = Query(space=call.space, principal=call.principal, text=text, limit=limit, kinds=("note", "fact"), turn=turn)
    kept = (await memory.recall(query)).hits
    if not text.strip():
        return kept
    said = (await memory.recall(replace(query, kinds=("message",)))).hits
    return (*kept[: max(limit - len(said), (limit + 1) // 2)], *said)[:limit]


def _shown(hit: Hit) -> dict[str, JsonValue]:
    item = hit.item
    shown: dict[str, JsonValue] = {"id": item.id, "text": item.text, "at": item.at.isoformat(timespec="seconds")}
    if item.kind != "note":
        shown |= {"kind": item.kind} | ({"speaker": item.speaker} if item.speaker else {})
    return shown | ({"disputed": True} if item.standing == "disputed" else {})


def _require_room(page: Page, text: str, replaces: list[str], call: Call) -> None:
    if not call.label.is_trusted:
        told = "a stranger's words are in this turn, and what it writes would stand in every prompt; keep it without on_page"
        raise ToolFailed("not_trusted", told)
    stays = [note for note in page.notes if note.id not in replaces]
    missing = sum(len(note.text) + 1 for note in stays) + len(text) + 1 - page.most_characters
    if missing > 0:
        there = "; ".join(f"{note.id} ({len(note.text)}): {note.text[:60]}" for note in stays)
        told = f"the page holds {page.most_characters} characters and {missing} are missing; nothing was kept. Merge some of its notes into"
        raise ToolFailed("page_full", f"{told} one shorter one that replaces them, or keep this without on_page. On the page: {there}")
