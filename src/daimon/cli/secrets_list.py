"""`daimon secrets list` and `who`: names, scopes and uses. A value is not here to be shown."""

from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from daimon import config, keeper
from daimon.cli import screen
from daimon.cli.secrets_change import opened
from daimon.kernel import words


def own(given: Path | None, as_json: bool) -> None:
    with opened(given) as (home, vault):
        entries, source = vault.entries(), vault.source
        settings = config.load(home.config, {})
    rows = [(entry, keeper.referring(settings, entry.name)) for entry in entries]
    if as_json:
        screen.emit_value({"source": source, "secrets": [_as_value(entry, models) for entry, models in rows]})
        return
    if rows:
        table = screen.table("name", "service", "hosts", "agents", "variable", "models", "age", "value")
        for entry, models in rows:
            table.add_row(*(Text(screen.plain(cell)) for cell in _cells(entry, models)))
        screen.out().print(table)
    else:
        screen.say("no secrets yet; `daimon secrets add` makes one")
    screen.remark(f"the key of the vault: {source}")


def who(given: Path | None, name: str, as_json: bool) -> None:
    with opened(given) as (home, vault):
        entry, uses = vault.entry(name), vault.uses(name)
        models = keeper.referring(config.load(home.config, {}), name)
    if as_json:
        screen.emit_value({**_as_value(entry, models), "uses": [_use(use) for use in uses]})
        return
    rows = (("goes to", _joined(entry.hosts)), ("boxes of", _joined(entry.agents)), ("as", entry.variable), ("models", _joined(models)))
    screen.out().print(screen.facts(rows))
    if not uses:
        screen.remark("nobody has used it yet")
        return
    table = screen.table("used by", "host", "first", "last", "times")
    for use in uses:
        cells = (use.by, use.host or "-", _when(use.first), _when(use.last), f"{use.count:,}")
        table.add_row(*(Text(screen.plain(cell)) for cell in cells))
    screen.out().print(table)
    screen.remark("a running gateway adds up the uses of a minute before it writes them")


def _cells(entry: keeper.Entry, models: tuple[str, ...]) -> tuple[str, ...]:
    lists = (_joined(entry.hosts), _joined(entry.agents), entry.variable, _joined(models))
    age = _age(entry.rotated_at or entry.created_at)
    return (entry.name, entry.service or "-", *lists, age, "set, old ones known" if entry.has_previous else "set")


def _as_value(entry: keeper.Entry, models: tuple[str, ...]) -> dict[str, object]:
    return {
        "name": entry.name,
        "service": entry.service,
        "hosts": list(entry.hosts),
        "agents": list(entry.agents),
        "variable": entry.variable,
        "models": list(models),
        "created_at": entry.created_at.isoformat(),
        "rotated_at": None if entry.rotated_at is None else entry.rotated_at.isoformat(),
        "has_previous": entry.has_previous,
    }


def _use(use: keeper.Use) -> dict[str, object]:
    return {"by": use.by, "host": use.host, "first": use.first.isoformat(), "last": use.last.isoformat(), "count": use.count}


def _age(since: datetime) -> str:
    """Of the value: days are what matters."""
    passed = datetime.now(UTC) - since
    return f"{passed.days} days" if passed.days > 1 else words.duration(max(0, passed.total_seconds()))


def _joined(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "-"


def _when(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")
