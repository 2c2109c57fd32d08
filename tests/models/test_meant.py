"""By their meaning, sentences that no pattern explains are understood as questions that only look, and ordinary ones are not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from tests.memory.embedding.models import needs_model

from daimon.abi.errors import ToolFailed
from daimon.abi.message import Image, Message, Part, Role, Text
from daimon.abi.model import Reply, Request
from daimon.abi.tool import Effect, Manifest
from daimon.memory.embedding.process import LocalEmbedder
from daimon.models.english import ENGLISH
from daimon.models.intents import Intent, understand
from daimon.models.meant import EXAMPLES, Meant
from daimon.models.reflex import UNKNOWN, Reflex
from daimon.testing.clock import ManualClock

PATIENCE_S = 60.0
TOOLS = tuple(
    Manifest(name=name, description=name, parameters={"type": "object"}, effect=Effect.PURE)
    for name in ("now", "status", "reminders", "remember", "forget", "remind", "cancel_reminder", "recall")
)
ORDINARY = """
What time does the train leave? / What time is the meeting tomorrow? / When is Easter this year? / What date is Anna's birthday? /
What time did you call me yesterday? / What is the time complexity of quicksort? / What is the status of the pull request? /
How is the project doing? / Is the printer working? / Check the status of the deployment / What appointments do I have? /
Delete all reminders / What can you do about the noise? / How do I use pandas groupby? / What commands does git have? /
Help me write a letter / Who is the president of France? / Tell me about Anna / Are you coming tonight? / What kind of tea do you like? /
Which assistant should I buy? / Is everything ready for the party? / Do you remember me? / I do not have time. / Time to go to bed. /
I love hiking in autumn. / Can you believe it, we won! / How did the interview go? / My sister adopted a dog last week.
"""


class Broken:
    model = "broken"

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        raise ToolFailed("embedding_failed", "the model is gone")


@pytest.fixture
async def local() -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder(ManualClock())
    async with asyncio.timeout(PATIENCE_S):
        yield made
        await made.close()


async def replied(reflex: Reflex, *parts: Part) -> Reply:
    *_, reply = [piece async for piece in reflex.stream(Request((Message(Role.USER, parts),), TOOLS))]
    assert isinstance(reply, Reply)
    return reply


def test_only_intents_that_change_nothing_have_examples() -> None:
    assert set(EXAMPLES) <= {Intent.TIME, Intent.STATUS, Intent.REMINDERS, Intent.HELP, Intent.WHO}


@needs_model
@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("what's the hour right now", "now"),
        ("how are your systems holding up", "status"),
        ("which reminders have I got coming up", "reminders"),
        ("let me see all reminders that are set", "reminders"),
    ],
)
async def test_a_question_in_other_words_is_answered(local: LocalEmbedder, text: str, tool: str) -> None:
    assert understand(text, (ENGLISH,)) is None
    reply = await replied(Reflex(embedder=local), Text(text))
    assert [call.tool for call in Message(Role.ASSISTANT, reply.parts).calls] == [tool]


@needs_model
async def test_ordinary_sentences_are_not_understood(local: LocalEmbedder) -> None:
    meant = Meant(local)
    sentences = [sentence.strip() for sentence in ORDINARY.split(" /")]
    assert [sentence for sentence in sentences if await meant.read(sentence)] == []


@needs_model
@pytest.mark.parametrize("text", ["", "   ", "what time is it, " * 20, "[heartbeat] what time is it?", "what time\nis it?"])
async def test_what_is_not_one_short_sentence_is_left_alone(local: LocalEmbedder, text: str) -> None:
    assert await Meant(local).read(text) is None


async def test_without_vectors_reflex_is_as_before() -> None:
    for reflex in (Reflex(), Reflex(embedder=Broken())):
        reply = await replied(reflex, Text("what's the hour right now"))
        assert reply.parts == (Text(UNKNOWN),)
        assert await replied(reflex, Text("what time is it?")) == await replied(Reflex(), Text("what time is it?"))


@needs_model
async def test_a_sentence_beside_a_picture_is_not_guessed(local: LocalEmbedder) -> None:
    picture = Image("0" * 64, "image/png")
    reply = await replied(Reflex(embedder=local), Text("what's the hour right now"), picture)
    assert reply.parts == (Text(UNKNOWN),)
