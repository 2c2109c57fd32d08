"""Where a request becomes an answer. No I/O here: `server.py` has the sockets.

A request passes in this order: its path names the shape, its key is checked, the shape reads it or turns it away, its model must
be known, the script gives a line, the cache is asked, the shape words the answer, a fault spoils it. Only requests that come as
far as the script take a line of it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus

from pydantic import JsonValue

from daimon.testing.provider.cache import PromptCache
from daimon.testing.provider.faults import Exchange, answer
from daimon.testing.provider.line import Line
from daimon.testing.provider.openai.shape import OPENAI
from daimon.testing.provider.prompt import Prompt
from daimon.testing.provider.routes import OLLAMA_TAGS, asks_a_model, lists_models
from daimon.testing.provider.said import compose
from daimon.testing.provider.script import Script
from daimon.testing.provider.seen import Seen, seen
from daimon.testing.provider.shape import Json, Problem, Rejected, Shape, json_reply
from daimon.testing.provider.wire import Answer, Asked, Reply

MODEL = "test-model"
"""In the list of a server that takes any name."""


class Desk:
    def __init__(self, script: Script, key: str, models: Sequence[str]) -> None:
        self.requests: list[Seen] = []
        self._program = script if callable(script) else None
        self._lines: Iterator[Line] = iter(() if callable(script) else script)
        self._key = key
        self._models = tuple(models)
        self._cache = PromptCache()

    def answer(self, asked: Asked) -> Answer:
        """Decides the answer, and writes down what was asked and what is answered."""
        shape = asks_a_model(asked) or lists_models(asked)
        request = seen(len(self.requests) + 1, shape.name if shape else "", asked, _parse(asked.body))
        name, decided = self._decide(asked, request)
        self.requests.append(replace(request, answered=name))
        return decided

    def _decide(self, asked: Asked, request: Seen) -> tuple[str, Answer]:
        names = self._models or (MODEL,)
        if (asked.method, asked.path) == ("GET", OLLAMA_TAGS):
            return "models", json_reply(200, {}, _tags(names))
        shape = asks_a_model(asked)
        lister = lists_models(asked)
        if (asker := shape or lister) is None:
            said = f"Invalid URL ({asked.method} {asked.path})"
            return "unknown_path", OPENAI.problem(Problem("unknown_path", said, number=request.number))
        if asker.key(asked) != self._key:
            return "wrong_key", asker.problem(Problem("wrong_key", number=request.number))
        if shape is None:
            return "models", json_reply(200, {}, asker.models(names))
        return self._ask(shape, asked, request)

    def _ask(self, shape: Shape, asked: Asked, request: Seen) -> tuple[str, Answer]:
        try:
            prompt = shape.read(asked, request.json)
        except Rejected as rejected:
            return "invalid", _turn_away(shape, rejected, request.number)
        if self._models and prompt.model not in self._models:
            return "unknown_model", shape.problem(Problem("404", number=request.number, model=prompt.model))
        line = self._next(request, prompt)
        hit = self._cache.look(self._key, prompt.model, prompt.blocks)
        decided = answer(Exchange(shape, prompt, line, compose(line, prompt, hit, request.number)))
        if isinstance(decided, Reply) and decided.status == HTTPStatus.OK:
            self._cache.keep(self._key, prompt.model, prompt.blocks)
        return line.fault.name if line.fault else "reply", decided

    def _next(self, request: Seen, prompt: Prompt) -> Line:
        if self._program:
            return self._program(request)
        return next(self._lines, Line(text=f"You said: {prompt.user_text}"))


def _parse(body: bytes) -> JsonValue:
    try:
        value: JsonValue = json.loads(body)
    except ValueError:
        return None
    return value


def _turn_away(shape: Shape, rejected: Rejected, number: int) -> Reply:
    return shape.problem(Problem("invalid", str(rejected), rejected.param, rejected.code, number))


def _tags(names: Sequence[str]) -> Json:
    """The list of models of Ollama, whose chat is otherwise OpenAI's."""
    details: dict[str, JsonValue] = {"format": "gguf", "family": "test", "parameter_size": "1B", "quantization_level": "Q4_0"}
    rows: list[JsonValue] = [
        {"name": name, "model": name, "modified_at": "2026-01-01T00:00:00Z", "size": 1, "digest": "0" * 64, "details": details}
        for name in names
    ]
    return {"models": rows}
