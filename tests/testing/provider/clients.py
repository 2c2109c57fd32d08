"""The three real clients behind one question, so that a test can ask the same of each. No client tries twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anthropic
import httpx2
import openai
from google import genai
from google.genai import errors, types

from daimon.testing.provider.server import KEY, ProviderServer

MODEL = "test-model"
TIMEOUT_S = 60.0
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}}
TOOL = "search"


@dataclass
class Heard:
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    finish: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None


class Client(Protocol):
    failure: type[Exception]
    """An error answer."""
    broken: tuple[type[Exception], ...]
    """A connection that failed."""

    async def whole(self, text: str) -> Heard: ...

    async def stream(self, text: str) -> Heard: ...


class OpenAI:
    failure = openai.APIStatusError
    broken = (openai.APIConnectionError,)

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self.client = client
        self.tools: Any = [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}]

    async def whole(self, text: str) -> Heard:
        messages: Any = [{"role": "user", "content": text}]
        reply = await self.client.chat.completions.create(model=MODEL, messages=messages, tools=self.tools)
        (choice,) = reply.choices
        heard = Heard(choice.message.content or "", getattr(choice.message, "reasoning_content", ""), model=reply.model)
        heard.text = heard.text or choice.message.refusal or ""
        heard.finish = choice.finish_reason
        for call in choice.message.tool_calls or ():
            heard.ids.append(call.id)
            heard.calls.append((call.function.name, call.function.arguments))
        _openai_usage(heard, reply.usage)
        return heard

    async def stream(self, text: str) -> Heard:
        heard, messages = Heard(), [{"role": "user", "content": text}]
        options: Any = {"include_usage": True}
        request: Any = {"model": MODEL, "messages": messages, "tools": self.tools, "stream": True, "stream_options": options}
        async for chunk in await self.client.chat.completions.create(**request):
            _openai_usage(heard, chunk.usage)
            heard.model = chunk.model
            for choice in chunk.choices or ():
                delta = choice.delta
                heard.text += delta.content or delta.refusal or ""
                heard.reasoning += getattr(delta, "reasoning_content", "")
                heard.finish = choice.finish_reason or heard.finish
                for call in delta.tool_calls or ():
                    if call.id:
                        heard.ids.append(call.id)
                        heard.calls.append((call.function.name, ""))
                    name, before = heard.calls[call.index]
                    heard.calls[call.index] = (name, before + call.function.arguments)
        return heard


def _openai_usage(heard: Heard, usage: Any) -> None:
    if usage:
        heard.input_tokens, heard.cached_tokens = usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens


class Anthropic:
    failure = anthropic.APIStatusError
    broken = (anthropic.APIConnectionError, httpx2.TransportError)

    def __init__(self, client: anthropic.AsyncAnthropic) -> None:
        self.client = client
        self.request: Any = {
            "model": MODEL,
            "max_tokens": 4_096,
            "thinking": {"type": "enabled", "budget_tokens": 1_024},
            "tools": [{"name": TOOL, "input_schema": SCHEMA}],
        }

    async def whole(self, text: str) -> Heard:
        return _anthropic_heard(await self.client.messages.create(messages=[{"role": "user", "content": text}], **self.request))

    async def stream(self, text: str) -> Heard:
        async with self.client.messages.stream(messages=[{"role": "user", "content": text}], **self.request) as stream:
            return _anthropic_heard(await stream.get_final_message())


def _anthropic_heard(message: Any) -> Heard:
    heard = Heard(model=message.model, finish=message.stop_reason)
    for block in message.content:
        if block.type == "thinking":
            heard.reasoning += block.thinking
        elif block.type == "text":
            heard.text += block.text
        else:
            heard.ids.append(block.id)
            heard.calls.append((block.name, block.input))
    if message.usage:
        read, written = message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens
        heard.input_tokens, heard.cached_tokens = message.usage.input_tokens + read + written, read
    return heard


class Google:
    failure = errors.APIError
    broken = (httpx2.TransportError,)

    def __init__(self, client: Any) -> None:
        self.client = client
        declared = types.FunctionDeclaration(name=TOOL, parameters_json_schema=SCHEMA)
        self.config = types.GenerateContentConfig(
            thinking_config=types.ThinkingConfig(include_thoughts=True),
            tools=[types.Tool(function_declarations=[declared])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )

    async def whole(self, text: str) -> Heard:
        heard = Heard()
        _google_hear(heard, await self.client.models.generate_content(model=MODEL, contents=text, config=self.config))
        return heard

    async def stream(self, text: str) -> Heard:
        heard = Heard()
        async for chunk in await self.client.models.generate_content_stream(model=MODEL, contents=text, config=self.config):
            _google_hear(heard, chunk)
        return heard


def _google_hear(heard: Heard, reply: types.GenerateContentResponse) -> None:
    heard.model = reply.model_version
    for candidate in reply.candidates or ():
        heard.finish = candidate.finish_reason.name if candidate.finish_reason else heard.finish
        for part in (candidate.content and candidate.content.parts) or ():
            if part.function_call:
                heard.ids.append(part.function_call.id or "")
                heard.calls.append((part.function_call.name or "", part.function_call.args))
            elif part.thought:
                heard.reasoning += part.text or ""
            else:
                heard.text += part.text or ""
    if reply.prompt_feedback and reply.prompt_feedback.block_reason:
        heard.finish = reply.prompt_feedback.block_reason.name
    if usage := reply.usage_metadata:
        heard.input_tokens, heard.cached_tokens = usage.prompt_token_count, usage.cached_content_token_count or 0


@asynccontextmanager
async def openai_client(server: ProviderServer, key: str = KEY, timeout_s: float = TIMEOUT_S) -> AsyncIterator[OpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=timeout_s) as client:
        yield OpenAI(client)


@asynccontextmanager
async def anthropic_client(server: ProviderServer, key: str = KEY, timeout_s: float = TIMEOUT_S) -> AsyncIterator[Anthropic]:
    async with anthropic.AsyncAnthropic(base_url=server.url, api_key=key, max_retries=0, timeout=timeout_s) as client:
        yield Anthropic(client)


@asynccontextmanager
async def google_client(server: ProviderServer, key: str = KEY, timeout_s: float = TIMEOUT_S) -> AsyncIterator[Google]:
    once = types.HttpRetryOptions(attempts=1)
    options = types.HttpOptions(base_url=server.url, timeout=int(timeout_s * 1_000), retry_options=once)
    async with genai.Client(api_key=key, http_options=options).aio as client:
        yield Google(client)


def failed(error: Any) -> tuple[int, str]:
    """The status and the body of an error answer, whichever client raised it."""
    return error.response.status_code, error.response.text


CLIENTS = {"openai": openai_client, "anthropic": anthropic_client, "google": google_client}
