"""What Daimon knows of a few public servers: for each tool what it can do to the world and what its arguments mean. Pure data.

It was written from what these servers really have (`benchmarks/servers.py` compares). It counts only where the owner says so
(`known = "time"`), because a name that a server gives itself proves nothing, and only for a tool that has no argument besides those that
are known: with another one it may do something else, and is unknown, so consequential.

A known tool is known by its hands, not by its words: results and descriptions stay a stranger's. And it is held to what is said here: the
box of a server reaches no host and no directory that its settings do not name.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from daimon import config

_Effect = Literal["pure", "idempotent", "unsafe"]
_PRIVATE, _OUTSIDE, _WRITES, _SENDS, _DELETES = "reads_private", "reads_outside", "writes", "sends", "deletes"


@dataclass(frozen=True, slots=True)
class KnownTool:
    effect: _Effect
    capabilities: tuple[str, ...]
    arguments: dict[str, str]
    """All of them, with the role of each."""

    @property
    def says(self) -> config.SaysOfTool:
        return config.SaysOfTool(effect=self.effect, capabilities=self.capabilities, roles=self.arguments)


def says_of(server: str, tool: str, arguments: Iterable[str]) -> config.SaysOfTool | None:
    """What is known of this tool of a server that the owner calls so. None: nothing."""
    found = KNOWN.get(server, {}).get(tool)
    return found.says if found is not None and set(arguments) <= set(found.arguments) else None


def named_in(command: Iterable[str]) -> str:
    """The known server that a command seems to start, as those are packed: `mcp-server-time`, `@modelcontextprotocol/server-memory`.

    It proves nothing, so it counts for nothing: it is only good for asking the owner whether it is that one.
    """
    found = (re.search(r"(?:^|[/-])server-([a-z-]+)(?:@[\w.]+)?$", word) for word in command)
    names = (match[1].replace("-", "") for match in found if match)
    return next((name for name in names if name in KNOWN), "")


def _tool(effect: _Effect, capabilities: Iterable[str], **arguments: str) -> KnownTool:
    return KnownTool(effect, tuple(sorted(capabilities)), arguments)


def _many(names: str, tool: KnownTool) -> dict[str, KnownTool]:
    return dict.fromkeys(names.split(), tool)


_LOOK, _PUT = ((_PRIVATE,), (_PRIVATE, _WRITES))
_PATH = {"path": "target"}

_EVERYTHING = {
    "echo": _tool("pure", (), message="content"),
    "get-annotated-message": _tool("pure", (), messageType="query", includeImage="query"),
    "get-env": _tool("pure", _LOOK),
    "get-resource-links": _tool("pure", (), count="query"),
    "get-resource-reference": _tool("pure", (), resourceType="query", resourceId="query"),
    "get-structured-content": _tool("pure", (), location="query"),
    "get-sum": _tool("pure", (), a="query", b="query"),
    "get-tiny-image": _tool("pure", ()),
    "gzip-file-as-resource": _tool("pure", (_OUTSIDE,), name="title", data="destination", outputType="query"),
    "toggle-simulated-logging": _tool("unsafe", (_WRITES,)),
    "toggle-subscriber-updates": _tool("unsafe", (_WRITES,)),
    "trigger-long-running-operation": _tool("pure", (), duration="query", steps="query"),
    "simulate-research-query": _tool("pure", (), topic="query", ambiguous="query"),
}

_FILESYSTEM = {
    **_many("read_file read_text_file", _tool("pure", _LOOK, **_PATH, head="query", tail="query")),
    **_many("read_media_file list_directory get_file_info", _tool("pure", _LOOK, **_PATH)),
    "read_multiple_files": _tool("pure", _LOOK, paths="target"),
    "list_directory_with_sizes": _tool("pure", _LOOK, **_PATH, sortBy="query"),
    "directory_tree": _tool("pure", _LOOK, **_PATH, excludePatterns="query"),
    "search_files": _tool("pure", _LOOK, **_PATH, pattern="query", excludePatterns="query"),
    "list_allowed_directories": _tool("pure", _LOOK),
    "write_file": _tool("idempotent", _PUT, **_PATH, content="content"),
    "edit_file": _tool("unsafe", _PUT, **_PATH, edits="content", dryRun="query"),
    "create_directory": _tool("idempotent", _PUT, **_PATH),
    "move_file": _tool("unsafe", _PUT, source="target", destination="target"),
}

_MEMORY = {
    "create_entities": _tool("idempotent", _PUT, entities="content"),
    "create_relations": _tool("idempotent", _PUT, relations="content"),
    "add_observations": _tool("idempotent", _PUT, observations="content"),
    "delete_entities": _tool("idempotent", (_DELETES, _PRIVATE), entityNames="target"),
    "delete_observations": _tool("idempotent", (_DELETES, _PRIVATE), deletions="target"),
    "delete_relations": _tool("idempotent", (_DELETES, _PRIVATE), relations="target"),
    "read_graph": _tool("pure", _LOOK),
    "search_nodes": _tool("pure", _LOOK, query="query"),
    "open_nodes": _tool("pure", _LOOK, names="target"),
}

_THINKING = {
    "sequentialthinking": _tool(
        "idempotent", (), thought="content", nextThoughtNeeded="query", thoughtNumber="query", totalThoughts="query", isRevision="query",
        revisesThought="query", branchFromThought="query", branchId="title", needsMoreThoughts="query",
    ),
}  # fmt: skip

_REPOSITORY = {"repo_path": "target"}
_GIT = {
    "git_status": _tool("pure", _LOOK, **_REPOSITORY),
    **_many("git_diff_unstaged git_diff_staged", _tool("pure", _LOOK, **_REPOSITORY, context_lines="query")),
    "git_diff": _tool("pure", _LOOK, **_REPOSITORY, target="target", context_lines="query"),
    "git_log": _tool("pure", _LOOK, **_REPOSITORY, max_count="query", start_timestamp="time", end_timestamp="time"),
    "git_show": _tool("pure", _LOOK, **_REPOSITORY, revision="target"),
    "git_branch": _tool("pure", _LOOK, **_REPOSITORY, branch_type="query", contains="query", not_contains="query"),
    "git_commit": _tool("unsafe", _PUT, **_REPOSITORY, message="content"),
    "git_add": _tool("idempotent", _PUT, **_REPOSITORY, files="target"),
    "git_reset": _tool("idempotent", _PUT, **_REPOSITORY),
    "git_create_branch": _tool("unsafe", _PUT, **_REPOSITORY, branch_name="title", base_branch="target"),
    "git_checkout": _tool("idempotent", _PUT, **_REPOSITORY, branch_name="target"),
}

_TIME = {
    "get_current_time": _tool("pure", (), timezone="query"),
    "convert_time": _tool("pure", (), source_timezone="query", time="time", target_timezone="query"),
}

_FETCH = {"fetch": _tool("pure", (_OUTSIDE,), url="destination", max_length="query", start_index="query", raw="query")}

_REMOTE = (_OUTSIDE, _PRIVATE)
_PAGES = {"page": "query", "perPage": "query"}
_SORTED = {"order": "query", "sort": "query"}
_REPO = {"owner": "target", "repo": "target"}
_INTO = {"owner": "destination", "repo": "destination"}
_ACT = (_OUTSIDE, _PRIVATE, _SENDS)
_GITHUB = {
    "get_me": _tool("pure", _REMOTE),
    "get_file_contents": _tool("pure", _REMOTE, **_REPO, path="target", ref="target", sha="target", fields="query"),
    "get_commit": _tool("pure", _REMOTE, **_REPO, **_PAGES, sha="target", detail="query"),
    **_many("list_branches list_tags", _tool("pure", _REMOTE, **_REPO, **_PAGES)),
    "list_releases": _tool("pure", _REMOTE, **_REPO, **_PAGES, fields="query"),
    "list_commits": _tool(
        "pure", _REMOTE, **_REPO, **_PAGES, author="query", fields="query", path="target", sha="target", since="time", until="time"
    ),
    "get_latest_release": _tool("pure", _REMOTE, **_REPO),
    **_many("get_release_by_tag get_tag", _tool("pure", _REMOTE, **_REPO, tag="target")),
    "get_repository_tree": _tool("pure", _REMOTE, **_REPO, path_filter="query", recursive="query", tree_sha="target"),
    "issue_read": _tool("pure", _REMOTE, **_REPO, **_PAGES, issue_number="target", method="query"),
    "list_issues": _tool(
        "pure", _REMOTE, **_REPO, after="query", direction="query", field_filters="query", fields="query", labels="query",
        orderBy="query", perPage="query", since="time", state="query",
    ),
    "pull_request_read": _tool("pure", _REMOTE, **_REPO, **_PAGES, after="query", method="query", pullNumber="target"),
    "list_pull_requests": _tool(
        "pure", _REMOTE, **_REPO, **_PAGES, base="query", direction="query", fields="query", head="query", sort="query", state="query"
    ),
    **_many("search_issues search_pull_requests", _tool("pure", _REMOTE, **_REPO, **_PAGES, **_SORTED, query="query", fields="query")),
    "search_code": _tool("pure", _REMOTE, **_PAGES, **_SORTED, query="query", fields="query"),
    **_many("search_commits search_orgs search_users", _tool("pure", _REMOTE, **_PAGES, **_SORTED, query="query")),
    "search_repositories": _tool("pure", _REMOTE, **_PAGES, **_SORTED, query="query", minimal_output="query"),
    "actions_get": _tool("pure", _REMOTE, **_REPO, method="query", resource_id="target"),
    "get_job_logs": _tool(
        "pure", _REMOTE, **_REPO, failed_only="query", job_id="target", return_content="query", run_id="target", tail_lines="query"
    ),
    "list_notifications": _tool("pure", _REMOTE, **_REPO, **_PAGES, before="time", since="time", filter="query"),
    "add_issue_comment": _tool(
        "unsafe", _ACT, **_INTO, body="content", issue_number="target", comment_id="target", reaction="content"
    ),
    "issue_write": _tool(
        "unsafe", _ACT, **_INTO, method="target", title="title", body="content", issue_number="target", assignees="destination",
        labels="content", milestone="target", state="target", state_reason="content", type="content", duplicate_of="target",
        issue_fields="content",
    ),
    "create_pull_request": _tool(
        "unsafe", _ACT, **_INTO, title="title", body="content", head="target", base="target", draft="target",
        maintainer_can_modify="target", reviewers="destination",
    ),
    "merge_pull_request": _tool(
        "unsafe", _ACT, **_INTO, pullNumber="target", commit_title="title", commit_message="content", merge_method="target"
    ),
    "create_branch": _tool("unsafe", _ACT, **_INTO, branch="title", from_branch="target"),
    "create_or_update_file": _tool(
        "unsafe", _ACT, **_INTO, branch="target", content="content", message="content", path="target", sha="target",
        allow_symlink_write="target",
    ),
    "push_files": _tool("unsafe", _ACT, **_INTO, branch="target", files="content", message="content"),
    "delete_file": _tool("unsafe", (*_ACT, _DELETES), **_INTO, branch="target", message="content", path="target"),
}  # fmt: skip

KNOWN: Mapping[str, Mapping[str, KnownTool]] = {
    "everything": _EVERYTHING,
    "fetch": _FETCH,
    "filesystem": _FILESYSTEM,
    "git": _GIT,
    "github": _GITHUB,
    "memory": _MEMORY,
    "sequentialthinking": _THINKING,
    "time": _TIME,
}
