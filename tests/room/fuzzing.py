"""What schemathesis loads: sensible values in the place of random ones where random ones come to nothing, or where they could do harm.

A directory is always the throw-away one of the test: a workspace of `/` is nothing that a test should make. A schedule is one that is
understood, and the names of automations and hooks are names, so that some are made, changed and shown. What would be asked live, of a
provider or a service, is asked of nobody: values that the API told of, such as the names of vendors, are sent back to it.
"""

import os
from typing import Any

import schemathesis

NOBODY = "http://127.0.0.1:1/v1"
DIRECTORY = os.environ.get("DAIMON_FUZZED_DIRECTORY", "")


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    body = case.body if isinstance(case.body, dict) else {}
    match case.operation.label:
        case "POST /v1/workspaces":
            _instead(body, "directory", DIRECTORY)
        case "POST /v1/skills" | "POST /v1/skills/offer":
            _instead(body, "source", DIRECTORY)
        case "PUT /v1/automations/{name}":
            _instead(body, "schedule", "daily at 8")
            _named(case, body, "id", "fuzzed")
        case "PUT /v1/hooks/{name}":
            _named(case, body, "name", "fuzzed")
        case "POST /v1/settings/models" | "POST /v1/settings/models/offers":
            body |= {"base_url": NOBODY} if isinstance(body.get("vendor"), str) else {}
        case "POST /v1/settings/channels/{name}" | "POST /v1/settings/channels/{name}/check":
            case.path_parameters = {"name": "nobody"}


def _instead(body: dict[str, Any], name: str, value: str) -> None:
    if isinstance(body.get(name), str) and body[name]:
        body[name] = value


def _named(case: Any, body: dict[str, Any], name: str, value: str) -> None:
    case.path_parameters = {"name": value}
    if isinstance(body.get(name), str):
        body[name] = value
