"""Which shape a request has, by its path; where two providers share a path, by its headers."""

from daimon.testing.provider.anthropic.shape import ANTHROPIC
from daimon.testing.provider.google.request import GENERATE
from daimon.testing.provider.google.shape import GOOGLE
from daimon.testing.provider.openai.embeddings import EMBEDDINGS
from daimon.testing.provider.openai.shape import OPENAI
from daimon.testing.provider.shape import Shape
from daimon.testing.provider.wire import Asked

OLLAMA_TAGS = "/api/tags"


def asks_a_model(asked: Asked) -> Shape | None:
    if asked.method != "POST":
        return None
    if asked.path.endswith("/chat/completions"):
        return OPENAI
    if asked.path.endswith("/v1/messages"):
        return ANTHROPIC
    if asked.path.endswith("/embeddings"):
        return EMBEDDINGS
    return GOOGLE if GENERATE.search(asked.path) else None


def lists_models(asked: Asked) -> Shape | None:
    if asked.method != "GET" or not asked.path.endswith("/models"):
        return None
    if "x-goog-api-key" in asked.headers or "key" in asked.query or asked.path.endswith("/v1beta/models"):
        return GOOGLE
    return ANTHROPIC if "x-api-key" in asked.headers or "anthropic-version" in asked.headers else OPENAI
