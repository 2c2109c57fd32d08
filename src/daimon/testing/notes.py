"""Notes and timers without a database, for tests of whatever holds the ports."""

from dataclasses import dataclass, field

from daimon.abi.ids import Conversation, PrincipalId, SpaceId
from daimon.abi.ports import Note, Reminder


@dataclass(slots=True)
class FakeNotes:
    """Finds notes that hold all words of the query; if none does, those that hold any. The newest come first."""

    kept: list[tuple[SpaceId, PrincipalId, Note]] = field(default_factory=list)

    def keep(self, space: SpaceId, principal: PrincipalId, note: Note) -> None:
        self.kept.append((space, principal, note))

    async def search(self, space: SpaceId, principal: PrincipalId, query: str, limit: int) -> tuple[Note, ...]:
        words = query.lower().split()
        mine = [note for *owner, note in self.kept if owner == [space, principal]]
        found = [note for note in mine if all(word in note.text.lower() for word in words)]
        found = found or [note for note in mine if any(word in note.text.lower() for word in words)]
        return tuple(sorted(found, key=lambda note: note.at, reverse=True)[:limit])


@dataclass(slots=True)
class FakeTimers:
    reminders: list[Reminder] = field(default_factory=list)

    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]:
        return tuple(each for each in self.reminders if each.conversation == conversation)
