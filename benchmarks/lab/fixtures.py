"""What the public suite expects of a server under test: tools, resources and prompts of fixed names and contents.

Nothing of it is Daimon's; it is there so that every way of answering can be asked for. It is served by `lab/fixture_server.py`.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

Context = ServerRequestContext[Any, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
PAUSE_S = 0.05
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
PERSON = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_THREE = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": _THREE},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _THREE}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=words))


def _fixed(*content: types.ContentBlock) -> Callable[[Context, dict[str, Any]], Awaitable[list[types.ContentBlock]]]:
    async def does(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
        return list(content)

    return does


async def _logs(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", words, related_request_id=context.request_id)
        await anyio.sleep(PAUSE_S)
    return [text("done")]


async def _goes_on(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await anyio.sleep(PAUSE_S)
    return [text("done")]


async def _samples(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    said = types.SamplingMessage(role="user", content=text(arguments["prompt"]))
    answer = await context.session.create_message([said], max_tokens=100, related_request_id=context.request_id)
    return [text(f"LLM response: {answer.content.text}")]


def _elicits(properties: dict[str, Any], required: list[str]) -> Callable[[Context, dict[str, Any]], Awaitable[list[types.ContentBlock]]]:
    async def does(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
        schema = {"type": "object", "properties": properties, "required": required}
        answer = await context.session.elicit_form(arguments.get("message", "Please answer"), schema, context.request_id)
        return [text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")]

    return does


async def _fails(context: Context, arguments: dict[str, Any]) -> list[types.ContentBlock]:
    raise ValueError("This tool intentionally returns an error for testing")


TOOLS: dict[str, Callable[[Context, dict[str, Any]], Awaitable[list[types.ContentBlock]]]] = {
    "test_simple_text": _fixed(text("This is a simple text response for testing.")),
    "test_image_content": _fixed(image()),
    "test_audio_content": _fixed(types.AudioContent(data=SOUND, mime_type="audio/wav")),
    "test_embedded_resource": _fixed(embedded("test://embedded-resource", "This is an embedded resource content.")),
    "test_multiple_content_types": _fixed(
        text("Multiple content types test:"), image(),
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    "test_tool_with_logging": _logs,
    "test_tool_with_progress": _goes_on,
    "test_error_handling": _fails,
    "test_sampling": _samples,
    "test_elicitation": _elicits(PERSON, ["username", "email"]),
    "test_elicitation_sep1034_defaults": _elicits(DEFAULTS, []),
    "test_elicitation_sep1330_enums": _elicits(ENUMS, []),
    "test_reconnection": _fixed(text("Reconnection is not needed: every call can be fetched again by its handle.")),
    "json_schema_2020_12_tool": _fixed(text("ok")),
}  # fmt: skip
_TAKES = {"test_sampling": "prompt", "test_elicitation": "message"}
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}
RESOURCES = {"test://static-text": "text/plain", "test://static-binary": "image/png", "test://watched-resource": "text/plain"}


def _schema(name: str) -> dict[str, Any]:
    if name == "json_schema_2020_12_tool":
        return SCHEMA
    takes = _TAKES.get(name)
    return {"type": "object", "properties": {takes: {"type": "string"}}, "required": [takes]} if takes else {"type": "object"}


async def _tools(context: Context, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=f"For tests: {name}", input_schema=_schema(name)) for name in TOOLS]
    )


async def _call(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        return types.CallToolResult(content=await TOOLS[params.name](context, params.arguments or {}))
    except ValueError as failed:
        return types.CallToolResult(content=[text(str(failed))], is_error=True)


async def _resources(context: Context, params: object) -> types.ListResourcesResult:
    found = [types.Resource(uri=uri, name=uri, description=f"For tests: {uri}", mime_type=kind) for uri, kind in RESOURCES.items()]
    return types.ListResourcesResult(resources=found)


async def _templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
    made = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[made])


async def _read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)])
    words, kind = "This is the content of the static text resource.", "text/plain"
    if uri.startswith("test://template/"):
        id_ = uri.split("/")[3]
        words, kind = json.dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}), "application/json"
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=words)])


async def _watch(context: Context, params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def _prompts(context: Context, params: object) -> types.ListPromptsResult:
    made = [
        types.Prompt(
            name=name, description=f"For tests: {name}", arguments=[types.PromptArgument(name=each, required=True) for each in takes]
        )
        for name, takes in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=made)


async def _prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    said: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", "test://example-resource"), "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), text("Please analyze the image above.")],
    }
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in said[params.name]])


async def _complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park", "party"], total=3, has_more=False))


async def _level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def server() -> Server[Any]:
    return Server(
        "daimon-fixtures", version="1", on_list_tools=_tools, on_call_tool=_call, on_list_resources=_resources,
        on_list_resource_templates=_templates, on_read_resource=_read, on_subscribe_resource=_watch, on_unsubscribe_resource=_watch,
        on_list_prompts=_prompts, on_get_prompt=_prompt, on_completion=_complete, on_set_logging_level=_level,
    )  # fmt: skip
