"""What a model is told of a tool's schema."""

from daimon.models.schema import told


def test_bounds_on_lengths_are_left_out_and_all_else_stays() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "maxLength": {"type": "string", "maxLength": 7, "minLength": 1, "description": "a name like a bound"},
            "many": {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 1, "maxItems": 3},
            "much": {"type": "number", "minimum": 0, "maximum": 9},
        },
        "required": ["many"],
    }
    assert told(schema) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "maxLength": {"type": "string", "description": "a name like a bound"},
            "many": {"type": "array", "items": {"type": "string"}},
            "much": {"type": "number", "minimum": 0, "maximum": 9},
        },
        "required": ["many"],
    }


def test_what_may_be_left_out_is_told_without_null() -> None:
    hours = {"anyOf": [{"type": "number", "minimum": 1}, {"type": "null"}], "default": None, "description": "how long"}
    assert told(hours) == {"type": "number", "minimum": 1, "description": "how long"}


def test_null_stays_where_it_means_something() -> None:
    either = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}], "default": None}
    must = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert (told(either), told(must)) == (either, must)


def test_a_number_that_bounds_nothing_is_left_out() -> None:
    assert told({"type": "integer", "minimum": -(1 << 40), "maximum": 65_536}) == {"type": "integer", "maximum": 65_536}
