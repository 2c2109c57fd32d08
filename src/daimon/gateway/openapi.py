"""The OpenAPI 3.1 document of the API, made from its entries: whatever is served is in it, as it is served.

Schemas are pydantic's own. Of what goes out they say what is written: every field is there, and no other. Of what comes in they say what
is taken. The two are told apart by name (`Input.…`), since one type may be used for both. Statuses beside the answer are those that the
entry declares and those that follow from what it is: who may not call, what cannot be read, what is not there, a disk that fails.

The WebSocket (`GET /v1/socket`) is not in it: OpenAPI has no words for one.
"""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import core_schema

from daimon.abi.codec import adapter
from daimon.gateway.entry import Entry

Document = dict[str, Any]
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_ERROR: Document = {"$ref": "#/components/schemas/Error"}
_ALWAYS = (400, 429, 503)
"""What cannot be read; too many tries; the journal fails."""
_CALLING = (401, 403, 421)
"""The door: nobody knows who that is, they may not, this is not the host that they mean. It looks at every request."""
_UNSAFE = (409, 507)
_SHAPES: Mapping[str, Document] = {
    "Error": {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
                "required": ["code", "message"],
                "additionalProperties": False,
            }
        },
        "required": ["error"],
        "additionalProperties": False,
    }
}
_SECURITY: Mapping[str, Document] = {
    "token": {"type": "http", "scheme": "bearer", "description": "The token of the home."},
    "session": {
        "type": "apiKey", "in": "cookie", "name": "daimon-7310",
        "description": "A signed-in browser; the name ends in the port, over TLS it is `__Host-daimon`. Goes with `X-Daimon: 1`.",
    },
}  # fmt: skip


def document(entries: tuple[Entry, ...], version: str) -> Document:
    shapes = _Shapes(entries)
    paths: dict[str, Document] = {}
    for entry in entries:
        paths.setdefault(_PARAMETER.sub(r"{\1}", entry.path), {})[entry.method.lower()] = _operation(entry, shapes)
    refusals = sorted({status for entry in entries for status in _fails(entry)})
    return {
        "openapi": "3.1.0",
        "info": {"title": "Daimon", "version": version, "description": "The API of a Daimon gateway."},
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {
            "schemas": {**_SHAPES, **shapes.named},
            "responses": {str(status): _told(status, {"application/json": {"schema": _ERROR}}) for status in refusals},
            "securitySchemes": dict(_SECURITY),
        },
    }


class _Written(GenerateJsonSchema):
    """What is written has all of its fields, and no others."""

    def field_is_required(
        self, field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField, total: bool
    ) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> dict[str, Any]:
        made = super().dataclass_schema(schema)
        if self.mode == "serialization" and "properties" in made:
            made["additionalProperties"] = False
        return made

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> dict[str, Any]:
        made = super().frozenset_schema(schema)
        if self.mode == "validation":
            made.pop("uniqueItems", None)  # who says a thing twice is understood
        return made


class _Shapes:
    """The schemas of all types that entries name."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        answers = [kind for entry in entries for kind in (entry.answers, *entry.others.values())]
        asked = [kind for entry in entries for kind in (entry.query, entry.body) if kind is not None]
        self.written, out = _made(answers, "serialization", "")
        self.read, taken = _made(asked, "validation", "Input.")
        self.named = {**out, **taken}

    def fields(self, kind: Any) -> Document:
        """The object that a query or body is."""
        shape = self.read[_key(kind)]
        return self.named.get(shape.get("$ref", "").rpartition("/")[2], shape)


def _made(kinds: Iterable[Any], mode: JsonSchemaMode, prefix: str) -> tuple[dict[str, Document], dict[str, Document]]:
    unique = {_key(kind): kind for kind in kinds if kind is not bytes}
    inputs = [(key, mode, adapter(kind)) for key, kind in unique.items()]
    made, whole = TypeAdapter.json_schemas(inputs, ref_template=f"#/components/schemas/{prefix}{{model}}", schema_generator=_Written)
    return {key: made[key, mode] for key, _, _ in inputs}, {f"{prefix}{name}": shape for name, shape in whole.get("$defs", {}).items()}


def _key(kind: Any) -> str:
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}.{kind!r}"


def _operation(entry: Entry, shapes: _Shapes) -> Document:
    path = _PARAMETER.sub(r"{\1}", entry.path)
    words = [re.sub(r"\W", "", word) for word in path.split("/") if word]
    made: Document = {
        "operationId": "_".join((entry.method.lower(), *words)),
        "tags": [words[1] if words[0] == "v1" and len(words) > 1 else words[0]],
        "summary": entry.summary,
        "parameters": [*_in_path(path), *_in_query(entry, shapes), *_in_headers(entry)],
        "responses": {str(status): _response(entry, status, shapes) for status in sorted({entry.status, *entry.others, *_fails(entry)})},
    }
    if entry.needs is None:
        made["security"] = []
    else:
        made |= {"description": f"Needs the right `{entry.needs.value}`.", "x-right": entry.needs.value}
    return made | ({} if entry.body is None else {"requestBody": _body(entry, shapes)})


def _in_path(path: str) -> list[Document]:
    shape = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": shape} for name in _PARAMETER.findall(path)]


def _in_query(entry: Entry, shapes: _Shapes) -> list[Document]:
    if entry.query is None:
        return []
    fields = shapes.fields(entry.query)
    needed = fields.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": _not_null(shape)}
        for name, shape in fields.get("properties", {}).items()
    ]


def _not_null(shape: Document) -> Document:
    """A query has no null: what is not wanted is left out."""
    kinds = [each for each in shape.get("anyOf", ()) if each.get("type") != "null"]
    rest = {name: value for name, value in shape.items() if name not in ("anyOf", "default") or (name == "default" and value is not None)}
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})


def _in_headers(entry: Entry) -> list[Document]:
    return [{"name": name, "in": "header", "required": False, "schema": adapter(kind).json_schema()} for name, kind in entry.heeds.items()]


def _body(entry: Entry, shapes: _Shapes) -> Document:
    if entry.body is bytes:
        return {"required": False, "content": {"application/octet-stream": {"schema": {}}}}
    shape = shapes.read[_key(entry.body)]
    needs = "oneOf" in shape or bool(shapes.fields(entry.body).get("required")) or bool(get_args(entry.body))
    return {"required": needs, "content": {"application/json": {"schema": shape}}}


def _fails(entry: Entry) -> set[int]:
    statuses = {*_ALWAYS, *_CALLING, *entry.fails}
    if entry.method != "GET":
        statuses |= {*_UNSAFE}
    if "{" in entry.path or entry.query is not None or entry.body is not None:
        statuses |= {404}  # what is named there may not be there
    return statuses | ({413, 415} if entry.body is not None else set())


def _response(entry: Entry, status: int, shapes: _Shapes) -> Document:
    content: dict[str, Document] = {}
    if status == entry.status or status in entry.others:
        kind = entry.answers if status == entry.status else entry.others[status]
        content[entry.media] = {"schema": {} if kind is bytes else shapes.written[_key(kind)]}
    if status in _fails(entry):
        own = content.get("application/json")
        if not content:
            return {"$ref": f"#/components/responses/{status}"}
        content["application/json"] = {"schema": _ERROR if own is None else {"anyOf": [own["schema"], _ERROR]}}
    return _told(status, content)


def _told(status: int, content: dict[str, Document]) -> Document:
    return {"description": HTTPStatus(status).phrase, "content": content}
