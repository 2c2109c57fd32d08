"""The page that says what the suite found, scenario by scenario, and why some are left out."""

from collections.abc import Sequence

from lab.suite import SUITE, VERSION, Outcome, Scenario

REASONS: dict[str, str] = {
    "server-sse-polling": "about streams that can be gone on with after a cut, which are offered to nobody: the SDK keeps what it "
    "would send again in one store for all sessions. `ask` gives a handle instead, with which a reply is fetched",
    "auth/basic-cimd": "a client whose id is an address needs a document at that address on the public web; nobody keeps one for a program "
    "that runs at home. Daimon registers itself, or the owner gives the id",
    "auth/scope-step-up": "nobody is asked to sign in in the middle of a call: the call fails, and says to sign in with `daimon mcp login`",
    "auth/2025-03-26-oauth-metadata-backcompat": "the sign-in service describes itself as another one than was asked. RFC 8414 forbids to "
    "go on: that is how a code is stolen",
    "auth/2025-03-26-oauth-endpoint-fallback": "without any description one would guess where secrets are sent; of a version that later "
    "ones took back",
    "auth/client-credentials-jwt": "an extension for machines without an owner; not offered",
    "auth/client-credentials-basic": "an extension for machines without an owner; not offered",
    "auth/cross-app-access-complete-flow": "an extension for companies with a sign-in service of their own; not offered",
}
"""Scenarios that do not apply, each with its reason."""
HEAD = (
    "# Conformance",
    f"Both ends of the Model Context Protocol are held to its public suite, `{SUITE}` {VERSION}. `./daimon bench conformance --write` runs "
    "it and writes this page; it needs npm.",
    "- **server**: the fixtures that the suite expects, served by the code that serves [Daimon's own abilities](mcp-server.md): the same "
    "door, the same mount. The suite sends no token, so one is put on its requests before the door looks at them.\n"
    "- **client**: the client that Daimon has for [servers](mcp.md), one process for each scenario. Its owner approves whatever tools "
    "there are and, where it is about signing in, does what `daimon mcp login` does.",
)


def page(scenarios: Sequence[Scenario], found: Sequence[Outcome]) -> str:
    by = {(each.scenario.side, each.scenario.name): each for each in found}
    rows = [_row(each, by.get((each.side, each.name))) for each in scenarios]
    passed = sum(each.is_passed for each in found)
    counts = f"{passed} of {len(found)} scenarios that were run pass, with {sum(each.passed for each in found)} checks; "
    counts += f"{len(scenarios) - len(found)} do not apply, for the reasons below."
    head = "| side | scenario | of | result | remark |\n|---|---|---|---|---|"
    return "\n\n".join((*HEAD, counts, "\n".join((head, *rows)))) + "\n"


def _row(scenario: Scenario, outcome: Outcome | None) -> str:
    if outcome is None:
        result, remark = "left out", REASONS.get(scenario.name, "was not run")
    elif outcome.is_passed:
        result, remark = f"passed, {outcome.passed}", ""
    else:
        result, remark = "**failed**", "; ".join((*outcome.failed, *outcome.warned))[:200].replace("|", "/")
    versions = scenario.versions.replace(",", ", ")
    return f"| {scenario.side} | `{scenario.name}` | {versions} | {result} | {remark} |"
