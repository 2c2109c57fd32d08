"""How `--help` looks: commands by what they are for, and options without signs that mean nothing to whoever reads them.

Typer would list all commands in one row and write the type of every value beside it, also beside a switch, which takes none. Here the
finished commands are gone through once, before they run; what they do is not changed. Invariant: every command stands under one heading.
"""

from typing import Any

import typer

HEADINGS = {
    "Every day": ("up", "open", "chat", "status", "questions", "answer", "undo", "doctor"),
    "What it did": ("turns", "trace", "context", "stop", "decisions", "acts", "outbox", "letters", "costs"),
    "What it is connected to": ("model", "channel", "people", "devices", "calendar", "hooks", "mcp", "skills", "secrets"),
    "What happens by itself": ("automations", "inject"),
    "What it may do": ("agents", "policy", "grants", "floor", "sandbox"),
    "What it keeps": ("memory", "workspace", "backup", "backups", "restore"),
    "How it runs": ("config", "reload", "service"),
    "For those who build on it": ("test", "bench", "dev"),
}

EXAMPLES = {
    "chat": ("chat", 'chat "what do you know about the spare key?"', "chat --conversation work < questions.txt"),
    "open": ("open", "open --print --rights read,chat --name phone"),
    "answer": ("answer t01jx:4 yes",),
    "automations add": (
        'automations add plants "every monday and thursday at 18:00" "Remind me to water the plants"',
        'automations add news "every 3 hours" "What is worth reading?" --watch-feed https://example.org/feed.xml --cost-per-day 0.50',
        'automations add report "0 8 * * 1-5" "Sum up what changed" --watch-files "notes/*.md"',
    ),
    "hooks add": (
        'hooks add github --scheme github --task "Say what the issue is about" --filter /action=opened',
        "hooks add orders --scheme stripe --collect",
    ),
    "mcp add": (
        "mcp add files --known filesystem --read ~/notes -- mcp-server-filesystem ~/notes",
        "mcp add clock --known time --read ~/venv -- ~/venv/bin/mcp-server-time",
        "mcp add issues --url https://mcp.example.org --oauth",
    ),
    "model add": (
        "model add",
        "model add local --vendor ollama --model qwen3",
        "model add smart --vendor anthropic --key-env ANTHROPIC_API_KEY",
    ),
    "secrets add": ("secrets add github --host api.github.com --agent daimon", "secrets add bank --host api.bank.example < token.txt"),
    "skills install": ("skills install ./weekly-report", "skills install https://git.example/me/skills.git#weekly-report"),
    "people invite": ("people invite", "people invite Anna --as trusted"),
    "memory restore": ("memory restore --at yesterday", "memory restore --at 2026-11-15T09:30"),
    "memory forget": ("memory forget note_96cb86302e65ddd8", "memory forget --source web:example.org"),
    "sandbox run": ("sandbox run -- python3 -c 'print(6 * 7)'", "sandbox run --allow-host example.org -- curl -s https://example.org"),
    "workspace run": ("workspace run try -- make test",),
    "workspace apply": ("workspace apply", "workspace apply src/ README.md"),
    "restore": ("restore ~/.daimon/backups/daimon-20261115T080000Z.tar.gz --replace",),
}
"""By command, without the name of the program."""


def bound(app: typer.Typer) -> Any:
    """The program, ready to be called."""
    root: Any = typer.main.get_command(app)
    for heading, names in HEADINGS.items():
        for name in names:
            root.commands[name] = root.commands.pop(name)  # they are listed in the order of this table
            root.commands[name].rich_help_panel = heading
    for path, examples in EXAMPLES.items():
        found(root, path).epilog = "\n".join(["Examples:", *(f"$ daimon {each}" for each in examples)])
    _tidy(root)
    return root


def found(root: Any, path: str) -> Any:
    """The command that is called so."""
    for name in path.split():
        root = root.commands[name]
    return root


def _tidy(command: Any) -> None:
    for param in (*command.params, command.get_help_option(typer.Context(command))):
        if getattr(param, "is_flag", False):
            param.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _tidy(below)
