"""Does the evidence of a question stand in the window? The dialogue is streamed through the context manager, then the question is asked.

Every line is a turn of one conversation that ended in silence. The question is a turn of the same conversation, about to ask a model: what
counts is the request that the pager would send. Memory may take three quarters of the window here, as for an owner whose agent lives off
its memory; a model counts a token for four characters, which the estimator learns from one request, as it would from a provider.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from daimon.abi.context import Prompt, Scene
from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, EventId, Key, TurnId
from daimon.abi.label import owned
from daimon.abi.memory import Memory
from daimon.abi.message import Text
from daimon.abi.ports import Claim, Ended
from daimon.abi.turn import Ending, Pins, State, Turn
from daimon.context.assemble import Pager, Paging, Sources
from daimon.context.budget import TokenBudget
from daimon.kernel.estimate import Estimator
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor
from lab.dialogues import Dialogue, Line, Question

SIZES = {"4k": 4_000, "8k": 8_000, "16k": 16_000}
SHARE = 0.75
"""Of the window, for memory."""
LETTERS_A_TOKEN = 4
MODEL = "four letters"
TTL_S = 60.0


@dataclass(frozen=True, slots=True)
class Windows:
    dialogue: Dialogue
    journal: MemoryJournal
    memory: Memory
    estimator: Estimator

    @classmethod
    async def of(cls, dialogue: Dialogue, memory: Memory) -> "Windows":
        journal = MemoryJournal(ManualClock(), CountingIds())
        where = Conversation(HOME_SPACE, dialogue.name)
        for line in dialogue.lines:
            await journal.accept(said(dialogue, line))
            claim = await journal.claim(where, "bench", TTL_S, Pins())
            assert isinstance(claim, Claim)
            await journal.finish(claim, [], Ended(Ending.SILENT, owned("chat")))
        return cls(dialogue, journal, memory, Estimator())

    async def there(self, question: Question, tokens: int) -> set[str]:
        """The lines that stand in a window of so many tokens."""
        prompt = await self._prompt(question, tokens)
        if _count(prompt) > tokens:
            raise RuntimeError(f"a window of {tokens} tokens has {_count(prompt)}")
        shown = "\n".join(" ".join(message.text.split()) for message in prompt.request.messages)
        return {line.id for line in self.dialogue.lines if " ".join(line.words.split()) in shown}

    async def _prompt(self, question: Question, tokens: int) -> Prompt:
        if self.estimator.factor(MODEL) == 1.0:
            prompt = await self._sent(question, tokens)
            self.estimator.learn(Conversation(HOME_SPACE, self.dialogue.name), MODEL, prompt, _count(prompt))
        return await self._sent(question, tokens)

    async def _sent(self, question: Question, tokens: int) -> Prompt:
        window = int(tokens / self.estimator.factor(MODEL))
        paging = Paging(TokenBudget(window, 0, 0, 0), int(window * SHARE))
        pager = Pager(Sources(self.journal, self.journal, self.memory), "You are Daimon.", paging, PlainRedactor())
        scene = self._scene(question)
        return pager.assemble(scene, await pager.prepare(scene), ())

    def _scene(self, question: Question) -> Scene:
        last = self.dialogue.lines[-1]
        asked = replace(
            said(self.dialogue, last), id=EventId("question"), key=Key("question"), body=Said((Text(question.text),)),
            received_at=last.at + timedelta(days=1),
        )  # fmt: skip
        turn = Turn(
            id=TurnId("z"), conversation=self.dialogue.name, event=asked.id, principal=OWNER, agent=SELF, root=TurnId("z"),
            state=State.RUNNING, created_at=asked.received_at, space=HOME_SPACE, label=asked.label,
        )  # fmt: skip
        return Scene(turn, asked, SELF, ())


def said(dialogue: Dialogue, line: Line) -> Event:
    return Event(
        id=EventId(line.id), source="chat", key=Key(line.id), conversation=dialogue.name, principal=OWNER,
        body=Said((Text(line.words),), speaker=line.speaker), occurred_at=line.at, received_at=line.at, space=HOME_SPACE,
        label=owned("chat"),
    )  # fmt: skip


def _count(prompt: Prompt) -> int:
    return sum(len(message.text) for message in prompt.request.messages) // LETTERS_A_TOKEN
