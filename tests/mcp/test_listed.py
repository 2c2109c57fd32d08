"""How a tool of a server is shown to the person who is asked whether it may be used."""

import json

from pydantic import JsonValue

from daimon.mcp.listed import Listed

LONG = "Which zone to take: a name of the IANA database, such as Europe/Berlin, or nothing at all for the zone of this machine."


def test_what_is_short_stands_on_one_line_and_nothing_is_left_out() -> None:
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"at": {"type": "string"}, "zone": {"type": "string", "description": LONG}, "any": {}, "ways": ["a", {"b": [LONG]}]},
        "required": ["at"],
    }
    _, shown = Listed("convert", parameters=parameters, annotations={"readOnlyHint": True}).text.split("\nparameters: ")
    assert json.loads(shown) == parameters
    assert '  "at": {"type": "string"},' in shown.splitlines()
    assert ' "required": ["at"],' in shown.splitlines()


def test_a_line_for_each_part_of_what_is_long_shows_which_of_them_changed() -> None:
    def lines(description: str) -> list[str]:
        return Listed("convert", parameters={"zone": {"description": description, "type": "string"}}).text.splitlines()

    before, after = lines(LONG), lines(LONG + " Then send it on.")
    assert len(before) == len(after)
    assert sum(was != now for was, now in zip(before, after, strict=True)) == 1
