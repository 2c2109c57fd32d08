"""What `daimon skills` does. All words of a skill are somebody else's: they are shown plainly, and said to be theirs."""

from collections.abc import Iterable
from pathlib import Path

from daimon.abi.codec import encode
from daimon.abi.invisible import visible
from daimon.abi.skill import Deed, Installed, Offer, Removal, Tested
from daimon.cli import consent, screen, shelved

FAILED = 1


def show_all(given: Path | None, as_json: bool) -> None:
    found = shelved.done(given, lambda librarian: librarian.all())
    if as_json:
        screen.emit(encode(tuple[Installed, ...], found))
        return
    rows = screen.table("name", "state", "words of", "version", "description")
    for each in found:
        whose = "yours" if each.is_vouched else "a stranger"
        rows.add_row(*(screen.plain(text) for text in (each.name, each.state, whose, each.version[:12], each.skill.description[:100])))
    screen.out().print(rows) if found else screen.remark("no skills; `daimon skills install SOURCE` brings one")


def show(given: Path | None, name: str, as_json: bool) -> None:
    held = shelved.done(given, lambda librarian: librarian.one(name))
    if as_json:
        screen.emit(encode(Installed, held))
        return
    skill = held.skill
    screen.out().print(screen.facts((
        ("name", held.name), ("state", f"{held.state}{f': {held.why}' if held.why else ''}"), ("description", skill.description),
        ("words of", "you, who vouch for it" if held.is_vouched else "a stranger, until you vouch for it"),
        ("from", f"{held.source}{f' at {held.revision[:12]}' if held.revision else ''}"), ("version", held.version),
        ("installed", f"{held.at.astimezone():%Y-%m-%d %H:%M}"), ("license", skill.license or "none named"),
        ("needs", "\n".join(held.asks) or "nothing"), ("agreed", "yes" if held.is_approved else "no"),
        ("triggers", "; ".join(skill.triggers) or "none"), ("files", "\n".join(skill.files) or "only SKILL.md"),
        ("told as", held.called),
    )))  # fmt: skip
    text, hidden = visible(skill.body)
    unseen = f", without {hidden} signs that nobody sees" if hidden else ""
    screen.say("\n".join((f"\nits text, as the model reads it{unseen}:", *(f"  {line}".rstrip() for line in text.splitlines()))))


def validate(given: Path | None, source: str, as_json: bool) -> None:
    offer = shelved.done(given, lambda librarian: librarian.offer(shelved.named(source)))
    if as_json:
        screen.emit(encode(Offer, offer))
    else:
        _show_offer(offer)
        screen.say(f"{offer.skill.name} is a valid skill")


def install(given: Path | None, source: str, is_meant: bool, as_json: bool) -> None:
    source = shelved.named(source)
    offer = shelved.done(given, lambda librarian: librarian.offer(source))
    if not is_meant:
        _show_offer(offer)
        _show_diff(offer)
    agreed = " and allow what it needs" if offer.asks else ""
    instead = f" in the place of the one from {offer.before.source}" if offer.before is not None else ""
    consent.require(f"Install {offer.skill.name}{instead}{agreed}?", is_meant)
    made = shelved.done(given, lambda librarian: librarian.install(source, offer.version, True))
    _said(made, "installed", as_json)


def update(given: Path | None, name: str, is_meant: bool, as_json: bool) -> None:
    before = shelved.done(given, lambda librarian: librarian.one(name))
    offer = shelved.done(given, lambda librarian: librarian.offer(name))
    if offer.is_same and before.state != "changed":
        _said(before, "is the newest already", as_json)
        return
    if not is_meant:
        _show_offer(offer)
        _show_diff(offer)
    question = f"Take this version of {name}{', and allow the more that it needs' if offer.more else ''}?"
    consent.require(question, is_meant)
    made = shelved.done(given, lambda librarian: librarian.install(name, offer.version, True))
    _said(made, "updated", as_json)
    if before.is_vouched and not made.is_vouched:
        screen.remark("you vouched for the version of before; the words of this one are a stranger's until you vouch for them")


def approve(given: Path | None, name: str, is_meant: bool, as_json: bool) -> None:
    held = shelved.done(given, lambda librarian: librarian.one(name))
    if not is_meant:
        _lines(f"{name}, version {held.version[:12]}, needs", held.asks or ("nothing",))
    consent.require("Allow that?", is_meant)
    change(given, name, "approve", as_json)


def change(given: Path | None, name: str, deed: Deed, as_json: bool) -> None:
    _said(shelved.done(given, lambda librarian: librarian.change(name, deed)), f"{deed}d".replace("hd", "hed"), as_json)


def remove(given: Path | None, name: str, is_dry: bool, is_meant: bool, as_json: bool) -> None:
    if is_dry or not is_meant:
        foreseen = shelved.done(given, lambda librarian: librarian.foresee_removal(name))
        if is_dry:
            _show_removal(foreseen, as_json)
            return
        _show_removal(foreseen, as_json=False)
    consent.require(f"Take {name} away with all of that?", is_meant)
    gone = shelved.done(given, lambda librarian: librarian.remove(name))
    _show_removal(gone, as_json)
    if not as_json:
        screen.say(f"{name} is removed")


def test(given: Path | None, name: str, as_json: bool) -> None:
    tested = shelved.done(given, lambda librarian: librarian.test(name))
    if as_json:
        screen.emit(encode(Tested, tested))
    else:
        for trial in tested.trials:
            screen.say(f"{'ok  ' if trial.is_well else 'FAIL'}  {trial.what}{f': {trial.said}' if trial.said else ''}")
    if not tested.is_well:
        raise SystemExit(FAILED)


def _show_offer(offer: Offer) -> None:
    skill = offer.skill
    screen.remark(
        f"{skill.name}, version {offer.version[:12]}, from {offer.source}{f' at {offer.revision[:12]}' if offer.revision else ''}", ""
    )
    screen.remark(f"its author says: {' '.join(skill.description.split())}", "")  # on one line: it could forge the next ones
    _lines("files", (f"{each.path} ({each.size:,} bytes{', can be run' if each.is_executable else ''})" for each in offer.files))
    _lines("scripts that the model may have run, in a box", skill.scripts)
    _lines("it needs", offer.asks or ("nothing beyond being read",))
    if offer.before is not None and offer.more:
        _lines("that is MORE than you agreed to", offer.more)
    _lines("to note", offer.remarks)


def _show_diff(offer: Offer) -> None:
    if offer.before is not None and offer.diff:
        screen.remark(f"what is different from version {offer.before.version[:12]}:\n{offer.diff}", "")


def _show_removal(removal: Removal, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Removal, removal))
        return
    traces, words = removal.traces, removal.forgotten
    kept = ", ".join(f"{count} {kind}s" for kind, count in words.items.items())
    counted = f"{kept or 'nothing'} in memory, {words.payloads} entries of the journal, {words.claims} claims of the graph"
    _lines(f"{removal.name}, version {removal.version[:12]}: its files", removal.files)
    _lines("words that came from it", () if words.is_nothing else (counted,))
    _lines("files of the workspace that were made with it", traces.made)
    _lines("files of the workspace that it changed, which stay: look at them yourself", traces.changed)
    for what in ("reminders", "automations", "hooks", "grants"):
        _lines(what, getattr(traces, what))
    _lines("what could not be taken away", removal.notes)
    if removal.undo:
        screen.remark(f"the workspace as it was before is the checkpoint {removal.undo}")


def _lines(head: str, lines: Iterable[str]) -> None:
    if found := tuple(lines):
        screen.remark("\n".join((f"{head}:", *(f"  {line}" for line in found))), "")


def _said(held: Installed, what: str, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Installed, held))
    else:
        why = f": {held.why}" if held.why else ""
        screen.say(f"{held.name} {what}; it is {held.state}{why}")
