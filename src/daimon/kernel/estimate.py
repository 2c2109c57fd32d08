"""At most how many tokens a request is.

A reservation must not be too small, so this is a bound, not a guess: no tokeniser makes more tokens than bytes. That alone would be
several times too much. But a request mostly begins with the bytes of an earlier one whose size the model itself has told: so what was told
plus the bytes of what is new is a bound as well, and a close one.

How much fits into a model's window is another question: there a bound of bytes would waste most of it. The context counts by characters
(`context/tokens.py`); how far that is off for a model is learned here from what the model tells, and from what it calls too long.
"""

import hashlib
import json
from collections import OrderedDict, deque
from dataclasses import dataclass

from daimon.abi.context import Prompt
from daimon.abi.ids import Conversation
from daimon.abi.message import Audio, File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.tool import Manifest

MOST_CONVERSATIONS = 256
PER_REQUEST = 1_000
"""What a provider adds of its own, such as its words about tools."""
PER_MESSAGE = 16
PER_TOOL = 64
PER_IMAGE = 8_000
MOST_OF_FILE = 400_000
"""So many bytes of a file are sent at most, as text."""
PER_PAGE, BYTES_PER_PAGE, MOST_OF_DOCUMENT = 3_000, 100, 600_000
"""A page of a document is a picture and its text; it takes at least some bytes; providers take some hundred pages."""
PER_SECOND = 64
LONGEST_S = 3_600.0
"""Of sound whose length nobody knows."""


@dataclass(frozen=True, slots=True)
class _Told:
    model: str
    chunks: int
    digest: bytes
    tokens: int


LAST = 16
"""So many requests tell how far our estimates are off; the worst of them counts, with a little more."""
MARGIN = 1.05
LEAST_FACTOR, MOST_FACTOR = 0.5, 4.0
WORSE = 1.3
LEAST_LEARNED = 200
"""Of a shorter request the provider's own words are too large a part."""


class Estimator:
    def __init__(self) -> None:
        self._told: OrderedDict[Conversation, _Told] = OrderedDict()
        self._factors: dict[str, deque[float]] = {}

    def factor(self, model: str) -> float:
        """How many of the model's tokens one token of our estimate is, at most; 1 until the model has told."""
        told = self._factors.get(model)
        return min(max(max(told) * MARGIN, LEAST_FACTOR), MOST_FACTOR) if told else 1.0

    def too_long(self, model: str) -> None:
        """It refused what we took for short enough."""
        self._learn(model, self.factor(model) * WORSE)

    def _learn(self, model: str, factor: float) -> None:
        self._factors.setdefault(model, deque(maxlen=LAST)).append(factor)

    def bound(self, conversation: Conversation, model: str, prompt: Prompt) -> int:
        whole = of_request(prompt)
        told = self._told.get(conversation)
        if told is None or told.model != model or told.chunks > len(prompt.chunks) or _digest(prompt.chunks[: told.chunks]) != told.digest:
            return whole
        new = prompt.request.messages[told.chunks - 1 :]  # the chunks are the messages, with the tools after the first
        return min(whole, told.tokens + PER_MESSAGE + sum(map(of_message, new)))

    def learn(self, conversation: Conversation, model: str, prompt: Prompt, input_tokens: int) -> None:
        """The model said how many tokens this request was."""
        if input_tokens > 0:
            self._told[conversation] = _Told(model, len(prompt.chunks), _digest(prompt.chunks), input_tokens)
            self._told.move_to_end(conversation)
            if len(self._told) > MOST_CONVERSATIONS:
                self._told.popitem(last=False)
        if input_tokens > LEAST_LEARNED and prompt.account.used > LEAST_LEARNED:
            self._learn(model, input_tokens / prompt.account.used)


def of_request(prompt: Prompt) -> int:
    return PER_REQUEST + sum(map(of_message, prompt.request.messages)) + sum(map(_of_tool, prompt.request.tools))


def of_message(message: Message) -> int:
    return PER_MESSAGE + sum(_of_part(part) for part in message.parts)


def _of_tool(tool: Manifest) -> int:
    return PER_TOOL + len(json.dumps(tool.parameters).encode()) + len(tool.description.encode()) + len(tool.name.encode())


def _of_part(part: Part) -> int:
    match part:
        case Text(text):
            return len(text.encode())
        case Reasoning(text=text, signature=signature):
            return len(text.encode()) + len(signature or "")
        case ToolCall(call=call, tool=tool, arguments=arguments, signature=signature):
            return PER_MESSAGE + len(call) + len(tool) + len(json.dumps(arguments).encode()) + len(signature or "")
        case ToolResult(parts=parts):
            return PER_MESSAGE + sum(_of_part(inner) for inner in parts)
        case File(name=name, media_type=media_type, size=size):
            return len(name.encode()) + (_of_document(size) if "pdf" in media_type else min(size, MOST_OF_FILE))
        case Image(description=description):
            return PER_IMAGE + len(description.encode())
        case Audio(transcript=transcript, duration_s=duration_s):
            return max(len(transcript.encode()), round(PER_SECOND * (LONGEST_S if duration_s is None else duration_s)))


def _of_document(size: int) -> int:
    return min(MOST_OF_DOCUMENT, PER_PAGE * (1 + size // BYTES_PER_PAGE))


def _digest(chunks: tuple[bytes, ...]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for chunk in chunks:
        digest.update(len(chunk).to_bytes(8))
        digest.update(chunk)
    return digest.digest()
