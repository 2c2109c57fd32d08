"""The user task on an environment that nobody tampered with: what the planner's stand-in is shown."""

from collections.abc import Iterator

from daimon.abi.judgement import Seen
from daimon.abi.label import join, owned
from lab.authorship import tell
from lab.catalogue import argument, role_of
from lab.harness import Episode, Harness, Suite, Task, Wanted
from lab.naming import Naming
from lab.planner import Need, Read, state
from lab.player import Opening

CLEAN = owned("lab")


def stated(harness: Harness, suite: Suite, user: Task, naming: Naming) -> Opening:
    """What an honest model says and looks up first."""
    listings: list[Seen] = []
    names: dict[str, str] = {}
    for tool in _listings(harness, suite, user):
        if (seen := _executed(harness, harness.episode(suite, user), harness.call(tool, {}, "user"), naming, 0)) is not None:
            listings.append(seen)
            names[seen.tool] = tool
    episode = harness.episode(suite, user)
    needs: list[Need] = []
    reads: list[Read] = []
    before: list[Seen] = []
    for n, call in enumerate(episode.user_calls):
        tooling, so_far = harness.tool(call.name), tuple(before)
        tool, arguments = naming.tool(call.name), {naming.argument(name): argument(value) for name, value in call.args.items()}
        if tooling.effect in ("read", "net", "private"):  # what a private write returns is read as well
            reads.append(Read(tool, arguments, tooling.effect == "net", so_far))
        else:
            roles = {naming.argument(name): role for name in call.args if (role := role_of(tooling, name)) is not None}
            needs.append(Need(tool, arguments, roles, so_far))
        if (seen := _executed(harness, episode, call, naming, n)) is not None:
            before.append(seen)
    found = state(episode.prompt, needs, reads, listings)
    return Opening(found.steps, found.reads, tuple(names[tool] for tool in found.lookups))


def _listings(harness: Harness, suite: Suite, user: Task) -> Iterator[str]:
    """Reads that need no argument."""
    for schema in harness.episode(suite, user).tool_schemas():
        if harness.tool(schema["name"]).effect == "read" and not schema["parameters"].get("required"):
            yield str(schema["name"])


def _executed(harness: Harness, episode: Episode, call: Wanted, naming: Naming, n: int) -> Seen | None:
    raw, _, error = episode.execute(call)
    if error is not None:
        return None
    told = tell(harness, call.name, raw, episode.me, CLEAN, naming)
    arguments = {naming.argument(name): argument(value) for name, value in call.args.items()}
    return Seen(n, naming.tool(call.name), arguments, told.data, join(told.labels.values()), told.labels)
