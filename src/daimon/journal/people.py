"""Who is known, by which chats, and who else knocked.

Each change leaves a row in `introductions`: what, whom it concerns, which chat, by whom, when. Of an invitation only the hash of its code
is kept. A code is valid until its moment comes, once, and for so many wrong tries of everybody together; a sender has so many tries an
hour, whichever code they aim at. Both are counted in the tables, so a restart gives nobody new tries. While no code is valid nothing is
counted: there is nothing to guess.

Strangers choose what they are called and how often they come: names are cut, and of those who knocked the newest are kept.
"""

import hashlib
import hmac
import re
import unicodedata
from datetime import datetime
from typing import Any

import apsw

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId
from daimon.abi.people import MOST_TRIES, MOST_TRIES_OF_SENDER, Contact, Invitation, Knock, Person, Rank
from daimon.abi.plain import clean
from daimon.journal.rows import micros, moment

HOUR_US = 3_600 * 1_000_000
FRESH_US = 60 * 1_000_000
"""That somebody spoke is noted once in so long."""
MOST_NAME, MOST_SENDER = 80, 200
MOST_KNOCKS, MOST_PEOPLE, MOST_INVITATIONS = 2_000, 1_000, 20
RESERVED = frozenset({OWNER, "daimon", "reader", "group", "service", "agent", "everybody", "stranger"})
_KNOWN = "SELECT p.id, p.name, p.rank, p.at FROM people p"
_OPEN = "space = ? AND used_at IS NULL AND until > ? AND tries < ?"


# -- reading -----------------------------------------------------------------------------------------------------------


def who(db: apsw.Connection, channel: str, sender: str) -> Person | None:
    row: Any = db.execute(
        f"{_KNOWN} JOIN contacts c ON c.space = p.space AND c.person = p.id WHERE c.space = ? AND c.channel = ? AND c.sender = ?",
        (HOME_SPACE, channel, sender),
    ).fetchone()
    return None if row is None else _person(row)


def people(db: apsw.Connection) -> tuple[tuple[Person, tuple[Contact, ...]], ...]:
    contacts: dict[str, list[Contact]] = {}
    for row in db.execute(
        "SELECT channel, sender, person, name, place, paired_at, last_at FROM contacts WHERE space = ? ORDER BY paired_at, channel, sender",
        (HOME_SPACE,),
    ):
        contact = _contact(row)
        contacts.setdefault(contact.person, []).append(contact)
    found = map(_person, db.execute(f"{_KNOWN} WHERE space = ? ORDER BY at, id", (HOME_SPACE,)))
    return tuple((person, tuple(contacts.get(person.id, ()))) for person in found)


def knocks(db: apsw.Connection) -> tuple[Knock, ...]:
    rows: Any = db.execute(
        "SELECT channel, sender, name, place, times, first_at, last_at FROM knocks WHERE space = ? ORDER BY last_at DESC, channel, sender",
        (HOME_SPACE,),
    )
    return tuple(Knock(channel, sender, name, place, times, moment(a), moment(b)) for channel, sender, name, place, times, a, b in rows)


def reach(db: apsw.Connection, person: PrincipalId) -> Address | None:
    row: Any = db.execute(
        """SELECT channel, place FROM contacts WHERE space = ? AND person = ? AND place <> ''
           ORDER BY COALESCE(last_at, paired_at) DESC LIMIT 1""",
        (HOME_SPACE, person),
    ).fetchone()
    return None if row is None else Address(*row)


def is_fresh(db: apsw.Connection, contact: tuple[str, str], name: str, place: str, at: datetime) -> bool:
    """Is there nothing to note about somebody who spoke?"""
    row: Any = db.execute(
        "SELECT name, place, last_at FROM contacts WHERE space = ? AND channel = ? AND sender = ?", (HOME_SPACE, *contact)
    ).fetchone()
    if row is None:
        return True
    return row[0] == plain_name(name) and place in ("", row[1]) and row[2] is not None and abs(micros(at) - row[2]) < FRESH_US


# -- strangers ---------------------------------------------------------------------------------------------------------


def knocked(db: apsw.Connection, knock: Knock) -> None:
    db.execute(
        """INSERT INTO knocks VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (space, channel, sender) DO UPDATE SET
           name = excluded.name, place = excluded.place, times = times + excluded.times, last_at = MAX(last_at, excluded.last_at)""",
        (
            HOME_SPACE, _cut(knock.channel), _cut(knock.sender), plain_name(knock.name), _cut(knock.place), knock.times,
            micros(knock.first_at), micros(knock.last_at),
        ),
    )  # fmt: skip
    db.execute(
        """DELETE FROM knocks WHERE space = ?1 AND (channel, sender) IN (
           SELECT channel, sender FROM knocks WHERE space = ?1 ORDER BY last_at DESC LIMIT -1 OFFSET ?2)""",
        (HOME_SPACE, MOST_KNOCKS),
    )


def pair(db: apsw.Connection, code: str, knock: Knock, now: datetime) -> Person | None:
    at, about = micros(now), f"{knock.channel}:{knock.sender}"
    if len(knock.sender) > MOST_SENDER or _tries_of(db, about, at) >= MOST_TRIES_OF_SENDER:
        return None
    is_any_open, invited = _invited(db, code, at)
    if invited is None:
        if is_any_open:
            db.execute(f"UPDATE invitations SET tries = tries + 1 WHERE {_OPEN}", (HOME_SPACE, at, MOST_TRIES))
            _note(db, "wrong code", PrincipalId(""), about, "", at)
        return None
    hash_, person, name, rank = invited
    db.execute("UPDATE invitations SET used_at = ? WHERE space = ? AND hash = ?", (at, HOME_SPACE, hash_))
    known = _introduced(db, PrincipalId(person), name, Rank(rank), at)
    _connect(db, known.id, knock, at)
    _note(db, "paired", known.id, about, "code", at)
    return known


def _tries_of(db: apsw.Connection, about: str, at: int) -> int:
    tries: int = db.execute(
        "SELECT COUNT(*) FROM introductions WHERE space = ? AND what = 'wrong code' AND about = ? AND at > ?",
        (HOME_SPACE, about, at - HOUR_US),
    ).get
    return tries


def _invited(db: apsw.Connection, code: str, at: int) -> tuple[bool, tuple[bytes, str, str, str] | None]:
    """Is any code valid, and the invitation with this one. All are compared, each in the same time."""
    wanted, found = digest(code), None
    rows: list[Any] = db.execute(f"SELECT hash, person, name, rank FROM invitations WHERE {_OPEN}", (HOME_SPACE, at, MOST_TRIES)).fetchall()
    for row in rows:
        if hmac.compare_digest(row[0], wanted):
            found = row
    return bool(rows), found


# -- the owner's word --------------------------------------------------------------------------------------------------


def invite(db: apsw.Connection, name: str, rank: Rank, code: str, until: datetime, now: datetime) -> Invitation:
    person, at = id_of(name, rank), micros(now)
    _require_same(_known(db, person), name, rank)
    db.execute("DELETE FROM invitations WHERE space = ? AND (until <= ? OR used_at IS NOT NULL)", (HOME_SPACE, at))
    if db.execute("SELECT COUNT(*) FROM invitations WHERE space = ?", (HOME_SPACE,)).get >= MOST_INVITATIONS:
        raise BadInput(f"{MOST_INVITATIONS} codes are valid already; wait until some have run out")
    db.execute(
        "INSERT OR REPLACE INTO invitations (space, hash, person, name, rank, until) VALUES (?, ?, ?, ?, ?, ?)",
        (HOME_SPACE, digest(code), person, plain_name(name) or str(person), rank, micros(until)),
    )
    _note(db, "invited", person, rank, OWNER, at)
    return Invitation(code, person, rank, until)


def allow(db: apsw.Connection, channel: str, sender: str, name: str, rank: Rank, now: datetime) -> Person:
    if not channel or not sender or len(channel) > MOST_SENDER or len(sender) > MOST_SENDER:
        raise BadInput(f"{channel[:40]}:{sender[:40]} names no chat; expected CHANNEL:SENDER as `daimon people` lists it")
    at, id_ = micros(now), id_of(name, rank)
    _require_same(_known(db, id_), name, rank)
    person = _introduced(db, id_, name, rank, at)
    place: Any = db.execute("SELECT place FROM knocks WHERE space = ? AND channel = ? AND sender = ?", (HOME_SPACE, channel, sender)).get
    _connect(db, person.id, Knock(channel, sender, "", place or "", 1, now, now), at)
    _note(db, "allowed", person.id, f"{channel}:{sender}", OWNER, at)
    return person


def change(db: apsw.Connection, person: PrincipalId, rank: Rank, now: datetime) -> Person:
    found = _require(db, person)
    if Rank.OWNER in (found.rank, rank) and found.rank is not rank:
        raise BadInput("there is one owner: nobody becomes it by rank; pair a chat of the owner's with `daimon people invite`")
    db.execute("UPDATE people SET rank = ? WHERE space = ? AND id = ?", (rank, HOME_SPACE, person))
    _note(db, "ranked", person, rank, OWNER, micros(now))
    return _require(db, person)


def remove(db: apsw.Connection, person: PrincipalId, channel: str, sender: str, now: datetime) -> None:
    _require(db, person)
    if channel or sender:
        given = (HOME_SPACE, person, channel, sender)
        db.execute("DELETE FROM contacts WHERE space = ? AND person = ? AND channel = ? AND sender = ?", given)
        if not db.changes():
            raise NotFound(f"{person} is not known by {channel}:{sender}; `daimon people` lists by what")
    else:
        db.execute("DELETE FROM contacts WHERE space = ? AND person = ?", (HOME_SPACE, person))
        db.execute("DELETE FROM people WHERE space = ? AND id = ?", (HOME_SPACE, person))
        db.execute("DELETE FROM invitations WHERE space = ? AND person = ?", (HOME_SPACE, person))
    _note(db, "removed", person, f"{channel}:{sender}" if channel else "", OWNER, micros(now))


def seen(db: apsw.Connection, contact: tuple[str, str], name: str, place: str, at: datetime) -> None:
    db.execute(
        """UPDATE contacts SET name = ?, place = IIF(? = '', place, ?), last_at = MAX(COALESCE(last_at, 0), ?)
           WHERE space = ? AND channel = ? AND sender = ?""",
        (plain_name(name), place, place, micros(at), HOME_SPACE, *contact),
    )


# -- rows --------------------------------------------------------------------------------------------------------------


def digest(code: str) -> bytes:
    return hashlib.sha256(b"daimon invitation\0" + code.encode()).digest()


def plain_name(name: str) -> str:
    """On one line, and no longer than a name."""
    return " ".join("".join(c if c.isprintable() else " " for c in clean(name)).split())[:MOST_NAME]


def id_of(name: str, rank: Rank) -> PrincipalId:
    """The owner has one id; for others it is made of the name. Raises BadInput."""
    if rank is Rank.OWNER:
        return OWNER
    plain = unicodedata.normalize("NFKD", plain_name(name)).encode("ascii", "ignore").decode().lower()
    id_ = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not id_ or id_ in RESERVED:
        raise BadInput(f"{name[:40]!r} cannot name a person: give a name with letters or digits that is not a word of Daimon's own")
    return PrincipalId(id_)


def _cut(text: str) -> str:
    return clean(text)[:MOST_SENDER]


def _introduced(db: apsw.Connection, id_: PrincipalId, name: str, rank: Rank, at: int) -> Person:
    """The person with this id, who may be known already, with a rank that is kept."""
    if _known(db, id_) is None:
        if db.execute("SELECT COUNT(*) FROM people WHERE space = ?", (HOME_SPACE,)).get >= MOST_PEOPLE:
            raise BadInput(f"{MOST_PEOPLE} people are known already; remove some first")
        db.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", (HOME_SPACE, id_, plain_name(name) or id_, rank, at))
    return _require(db, id_)


def _connect(db: apsw.Connection, person: PrincipalId, knock: Knock, at: int) -> None:
    db.execute(
        "INSERT OR REPLACE INTO contacts VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
        (HOME_SPACE, knock.channel, knock.sender, person, plain_name(knock.name), knock.place, at),
    )
    db.execute("DELETE FROM knocks WHERE space = ? AND channel = ? AND sender = ?", (HOME_SPACE, knock.channel, knock.sender))


def _note(db: apsw.Connection, what: str, person: PrincipalId, about: str, by: str, at: int) -> None:
    db.execute("INSERT INTO introductions (space, what, person, about, by, at) VALUES (?, ?, ?, ?, ?, ?)",
               (HOME_SPACE, what, person, about, by, at))  # fmt: skip


def _known(db: apsw.Connection, person: PrincipalId) -> Person | None:
    row: Any = db.execute(f"{_KNOWN} WHERE space = ? AND id = ?", (HOME_SPACE, person)).fetchone()
    return None if row is None else _person(row)


def _require(db: apsw.Connection, person: PrincipalId) -> Person:
    found = _known(db, person)
    if found is None:
        raise NotFound(f"nobody is called {str(person)[:80]!r} here; `daimon people` lists who is")
    return found


def _require_same(known: Person | None, name: str, rank: Rank) -> None:
    """Two names may come to one id, as Jörg and Jorg do: whoever is let in as the other would be given all that is theirs."""
    if known is not None and known.id != OWNER and plain_name(name).casefold() not in (known.name.casefold(), known.id):
        raise BadInput(
            f"{name[:40]!r} would be taken for {known.name!r}, who is known as {known.id}; choose another name, or say {known.id}"
        )
    if known is not None and known.rank is not rank:
        raise BadInput(f"{known.id} is {known.rank} already; `daimon people rank {known.id} {rank}` changes that, or choose another name")


def _person(row: Any) -> Person:
    id_, name, rank, at = row
    return Person(PrincipalId(id_), name, Rank(rank), moment(at))


def _contact(row: Any) -> Contact:
    channel, sender, person, name, place, paired_at, last_at = row
    return Contact(channel, sender, PrincipalId(person), name, place, moment(paired_at), None if last_at is None else moment(last_at))
