"""From a function to a tool: what the signature becomes, and which functions cannot be one."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, JsonValue

from daimon.abi.errors import BadInput, Misconfigured, ToolFailed
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result
from daimon.tools.schema import Built, tool

Tries = Annotated[int, Field(ge=1, le=9)]


@tool(effect=Effect.PURE)
async def example(
    call: Call,
    text: Annotated[str, ArgumentRole.CONTENT, "Some text.", Field(max_length=10)],
    at: Annotated[datetime | None, ArgumentRole.TIME, "When."] = None,
    mood: Annotated[Literal["good", "bad"], "How it is."] = "good",
    tries: Annotated[list[Tries] | None, "Numbers."] = None,
    schema: Annotated[bool, "A name that pydantic's models use themselves."] = False,
) -> Result:
    """Does nothing.

    At length.
    """
    return Result({"text": text, "at": str(at), "mood": mood, "tries": tries, "schema": schema})  # type: ignore[dict-item]


def test_a_signature_becomes_a_strict_schema() -> None:
    assert example.manifest.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "description": "Some text.", "maxLength": 10},
            "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "default": None, "description": "When."},
            "mood": {"type": "string", "enum": ["good", "bad"], "default": "good", "description": "How it is."},
            "tries": {
                "anyOf": [{"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}}, {"type": "null"}],
                "default": None,
                "description": "Numbers.",
            },
            "schema": {"type": "boolean", "default": False, "description": "A name that pydantic's models use themselves."},
        },
    }


def test_name_description_and_roles_come_from_the_function() -> None:
    assert example.manifest.name == "example"
    assert example.manifest.description == "Does nothing.\n\nAt length."
    assert example.manifest.roles == {"text": ArgumentRole.CONTENT, "at": ArgumentRole.TIME}


async def test_arguments_arrive_as_python_values_with_defaults(call: Call) -> None:
    result = await example.run({"text": "hi", "at": "2026-01-31T09:00:00+01:00", "tries": [1, 2]}, call)
    assert isinstance(result, Result)
    assert result.data == {"text": "hi", "at": "2026-01-31 09:00:00+01:00", "mood": "good", "tries": [1, 2], "schema": False}
    assert example.check({"text": "hi", "at": "2026-01-31T08:00:00Z"})["at"] == datetime(2026, 1, 31, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"text": 5}, "example: text is 5, expected text of at most 10 characters"),
        ({"text": "far too long for it"}, 'example: text is "far too long for it", expected text of at most 10 characters'),
        ({}, "example: text is missing, expected text of at most 10 characters"),
        ({"text": "x", "colour": 1}, "example: colour is not known, expected an object with text, at, mood, tries, schema"),
        ({"text": "x", "mood": "so so"}, 'example: mood is "so so", expected one of "good", "bad"'),
        ({"text": "x", "schema": 1}, "example: schema is 1, expected true or false"),
        ({"text": "x", "tries": [1, "2"]}, 'example: tries[1] is "2", expected a whole number of 1 to 9'),
        ({"text": "x", "tries": [True]}, "example: tries[0] is true, expected a whole number of 1 to 9"),
        ({"text": "x", "tries": [1.0]}, "example: tries[0] is 1.0, expected a whole number of 1 to 9"),
        (["x"], 'example: the argument object is ["x"], expected an object with text, at, mood, tries, schema'),
        ({"text": 1, "at": 2, "mood": 3, "tries": 4}, "; and 1 more"),
    ],
)
def test_wrong_arguments_are_told_so_that_a_model_can_mend_them(arguments: JsonValue, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        example.check(arguments)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "at", ["tomorrow", "2026-01-31", "2026-01-31T09:00:00", "2026-02-30T09:00:00Z", "1700000000", "20300101", 1700000000, ""]
)
def test_only_a_full_time_with_its_offset_is_a_time(at: JsonValue) -> None:
    with pytest.raises(BadInput, match=r"at is .* expected a time with its offset, such as 2026"):
        example.check({"text": "x", "at": at})


async def test_wrong_arguments_never_reach_the_function(call: Call) -> None:
    with pytest.raises(BadInput):
        await example.run({"text": None}, call)


def test_a_secret_value_is_not_repeated() -> None:
    @tool(effect=Effect.PURE)
    async def unlock(call: Call, code: Annotated[str, ArgumentRole.SECRET, "The code.", Field(max_length=4)]) -> Result:
        """Unlocks."""
        return Result(None)

    with pytest.raises(BadInput) as refused:
        unlock.check({"code": "hunter2"})
    assert str(refused.value) == "unlock: code is not right, expected text of at most 4 characters"


async def test_a_verifiable_tool_is_asked_whether_it_happened(call: Call) -> None:
    async def was_paid(call: Call, cents: int) -> Result | None:
        return Result({"paid": cents}) if call.key == "t1:4" else None

    @tool(effect=Effect.VERIFIABLE, capabilities={Capability.SPENDS}, verify=was_paid)
    async def pay(call: Call, cents: Annotated[int, ArgumentRole.AMOUNT, "How much."]) -> Result:
        """Pays."""
        return Result(None)

    assert await pay.verify({"cents": 5}, call) == Result({"paid": 5})


async def test_a_tool_that_cannot_be_verified_does_not_claim_that_nothing_happened(call: Call) -> None:
    with pytest.raises(ToolFailed, match="nobody can tell whether example happened"):
        await example.verify({"text": "x"}, call)


def _no_description() -> Any:
    async def f(call: Call, text: Annotated[str, ArgumentRole.CONTENT]) -> Result:
        """Does."""
        return Result(None)

    return f


def _not_annotated() -> Any:
    async def f(call: Call, text: str) -> Result:
        """Does."""
        return Result(None)

    return f


def _keywords() -> Any:
    async def f(call: Call, **rest: Annotated[str, "Anything."]) -> Result:
        """Does."""
        return Result(None)

    return f


def _no_docstring() -> Any:
    async def f(call: Call) -> Result:
        return Result(None)

    return f


def _no_call() -> Any:
    async def f(text: Annotated[str, "Text."]) -> Result:
        """Does."""
        return Result(None)

    return f


def _nothing() -> Any:
    async def f() -> Result:
        """Does."""
        return Result(None)

    return f


def _not_async() -> Any:
    def f(call: Call) -> Result:
        """Does."""
        return Result(None)

    return f


def _two_roles() -> Any:
    async def f(call: Call, text: Annotated[str, ArgumentRole.CONTENT, ArgumentRole.QUERY, "Text."]) -> Result:
        """Does."""
        return Result(None)

    return f


def _unchecked_limit() -> Any:
    async def f(call: Call, text: Annotated[str, "Text.", Field(pattern="a+")]) -> Result:
        """Does."""
        return Result(None)

    return f


def _open_object() -> Any:
    async def f(call: Call, data: Annotated[dict[str, str], "Anything."]) -> Result:
        """Does."""
        return Result(None)

    return f


def _no_schema() -> Any:
    async def f(call: Call, data: Annotated[Callable[[], None], "A function."]) -> Result:
        """Does."""
        return Result(None)

    return f


def _unresolved() -> Any:
    async def f(call: Call, data: "Annotated[Nowhere, 'x']") -> Result:  # type: ignore[name-defined]  # noqa: F821
        """Does."""
        return Result(None)

    return f


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_no_description, "text needs one description and at most one role, it has 0 and 1"),
        (_not_annotated, r"text must be Annotated\[type"),
        (_keywords, "takes anything; name each argument"),
        (_no_docstring, "no description; write what it does"),
        (_no_call, "its first argument must be `call`, not text"),
        (_nothing, "its first argument must be `call`, it has none"),
        (_not_async, "not an async function"),
        (_two_roles, "it has 1 and 2"),
        (_unchecked_limit, "not strict: properties.text.string.pattern"),
        (_open_object, "not strict: properties.data.object.additionalProperties"),
        (_no_schema, "no JSON Schema"),
        (_unresolved, "'Nowhere' is not defined"),
    ],
)
def test_a_function_that_says_too_little_is_refused_when_it_is_defined(make: Callable[[], Any], reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        tool(effect=Effect.PURE)(make())


async def _verify(call: Call) -> Result | None:
    return None


@pytest.mark.parametrize(("effect", "verify"), [(Effect.VERIFIABLE, None), (Effect.PURE, _verify), (Effect.UNSAFE, _verify)])
def test_a_verifiable_tool_and_no_other_can_be_verified(effect: Effect, verify: Any) -> None:
    async def f(call: Call) -> Result:
        """Does."""
        return Result(None)

    with pytest.raises(Misconfigured, match="a verifiable tool has verify=, and no other has"):
        tool(effect=effect, verify=verify)(f)


def test_a_refusal_names_the_function() -> None:
    with pytest.raises(Misconfigured, match=r"_no_docstring.<locals>.f cannot be a tool"):
        tool(effect=Effect.PURE)(_no_docstring())


def test_what_is_built_is_frozen() -> None:
    assert isinstance(example, Built)
    with pytest.raises(AttributeError):
        example.manifest = example.manifest  # type: ignore[misc]
