"""Every text inside a value is cleaned, and a value without anything to clean is itself."""

import json

from daimon.abi.cleaning import cleaned, cleaned_json, cleaned_text
from daimon.abi.event import Webhook
from daimon.abi.message import Image, Reasoning, Text, ToolCall
from daimon.abi.tool import Capability


def clean(text: str) -> str:
    return text.replace("bad", "[x]")


def test_texts_are_cleaned_wherever_they_stand() -> None:
    hook = Webhook("bad", {"bad": ["a bad", 1, None, {"b": "bad"}]}, {"h": "bad"})
    assert cleaned(hook, clean) == Webhook("[x]", {"[x]": ["a [x]", 1, None, {"b": "[x]"}]}, {"h": "[x]"})
    assert cleaned((Text("bad"), ToolCall("c", "t", {"a": "bad"}, "bad")), clean) == (Text("[x]"), ToolCall("c", "t", {"a": "[x]"}, "bad"))


def test_a_reasoning_that_was_changed_loses_its_signature() -> None:
    assert cleaned(Reasoning("bad", "p", "signed"), clean) == Reasoning("[x]", "p", None)
    assert cleaned(Reasoning("good", "p", "signed"), clean) == Reasoning("good", "p", "signed")


def test_what_is_clean_or_no_text_stays_itself() -> None:
    parts = (Text("good"), Image("bad", "image/bad"), ToolCall("c", "t", {"a": [1, "good"]}))  # type: ignore[arg-type]
    assert cleaned(parts, clean) is parts
    assert cleaned(Capability.SENDS, lambda text: "other") is Capability.SENDS


def test_json_stays_json() -> None:
    data = json.dumps({"a": 'bad "quoted"', "ü": [1.5, True]}, ensure_ascii=False).encode()
    assert json.loads(cleaned_json(data, clean)) == {"a": '[x] "quoted"', "ü": [1.5, True]}
    assert cleaned_json(b'{"a" :1}', clean) == b'{"a" :1}'


def test_bytes_that_are_no_utf8_come_back_as_they_were() -> None:
    assert cleaned_text(b"\xff bad \x00", clean) == b"\xff [x] \x00"
    assert cleaned_text("ü bad".encode(), clean) == "ü [x]".encode()
