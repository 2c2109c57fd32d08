"""`daimon agents`: who there is, what each may use, and what follows from it. Needs no running gateway."""

from pathlib import Path

from rich.text import Text

from daimon import config, homes, law, tooling
from daimon.cli import screen
from daimon.policy.agents import ASSISTANT, Agent

MOST_NAMED = 8


def show(given: Path | None, as_json: bool) -> None:
    home = homes.home_at(given)
    settings = config.settings_of(home)
    manifests = tooling.manifests(settings, home)
    found = law.agents_of(settings, manifests).all()
    if as_json:
        screen.emit_value({"agents": [_as_value(agent) for agent in found]})
        return
    rows = screen.table("agent", "role", "tools", "private", "outside", "acts", "what follows")
    for agent in found:
        marks = ("yes" if has else "no" for has in (agent.private, agent.outside, agent.acts))
        cells = (agent.id, agent.role, _tools(agent, len(manifests)), *marks, follows(agent))
        rows.add_row(*(Text(screen.plain(cell)) for cell in cells))
    screen.out().print(rows)
    screen.remark("private: reads what is the owner's. outside: reads what others wrote. acts: sends, spends, deletes or grants.")
    if settings.mcp:
        names = ", ".join(sorted(settings.mcp))
        screen.remark(f"tools of servers ({names}) are not counted here; `daimon mcp show NAME` says what each may do")


def follows(agent: Agent) -> str:
    """By the policies that come with Daimon, in words."""
    if not agent.acts:
        return "it has no tool with consequences" + ("" if agent.role == ASSISTANT else "; it asks before it writes or runs anything")
    if agent.role != ASSISTANT:
        return "it reads by itself, and asks before it writes, runs or acts"
    if agent.is_held_back:
        return f"it holds all three, so every act is asked; give it fewer tools, or set agents.{agent.id}.may_hold_all"
    if agent.private and agent.outside:
        return "it holds all three with the owner's leave: it acts where the owner's words, a clean context or a plan carry the call"
    return "it acts where the owner's words, a clean context or a plan carry the call, and asks otherwise"


def _tools(agent: Agent, of: int) -> str:
    if len(agent.tools) == of:
        return f"all {of}"
    names = sorted(agent.tools)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (", ".join(names[:MOST_NAMED]) or "none") + more


def _as_value(agent: Agent) -> dict[str, object]:
    return {
        "agent": agent.id,
        "role": agent.role,
        "description": agent.description,
        "tools": sorted(agent.tools),
        "private": agent.private,
        "outside": agent.outside,
        "acts": agent.acts,
        "may_hold_all": agent.may_hold_all,
        "is_held_back": agent.is_held_back,
        "follows": follows(agent),
    }
