"""daimon.toml, changed by a command: the owner's comments, order and layout stay, and a change that would break it is not made.

The file is the owner's. A change is done twice, on the text and on the plain tree that it stands for; what is written must read as
that tree, and `config.load` must accept it, before it takes the old one's place in one step. A file that is broken already is left
as it is, and the error says where.
"""

import hashlib
import os
import tomllib
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from daimon import config
from daimon.abi.errors import Misconfigured, Outdated
from daimon.machine import files

Tree = MutableMapping[str, Any]
Change = Callable[[Tree], None]


def put_model(name: str, entry: config.ModelEntry, remark: str = "") -> Change:
    """`[models.NAME]`. Of an entry that is there already all stays that this one does not mention; None takes a setting away.

    The remark becomes a comment beside the model.
    """
    said = entry.model_dump(exclude_unset=True)

    def change(tree: Tree) -> None:
        _put(tree, "models", name, said)
        if remark:
            _comment(tree["models"][name], remark)

    return change


def put_channel(name: str, said: Mapping[str, Any]) -> Change:
    """`[channels.NAME]`, in the same way."""
    return lambda tree: _put(tree, "channels", name, said)


def put_calendar(name: str, said: Mapping[str, Any]) -> Change:
    """`[calendars.NAME]`, in the same way."""
    return lambda tree: _put(tree, "calendars", name, said)


def _put(tree: Tree, section: str, name: str, said: Mapping[str, Any]) -> None:
    entries = tree.get(section)
    if entries is None:
        tree[section] = {name: _written(said)}
    elif name not in entries:
        entries[name] = _written(said)
    else:
        _merge(entries[name], said)


def _comment(entry: Tree, remark: str) -> None:
    """Where there is room for one: not in a plain tree, and not in a table on one line."""
    from tomlkit.items import Item, Table

    if isinstance(entry, Table) and isinstance(written := entry["model"], Item):
        written.comment("".join(letter for letter in remark if letter.isprintable()))


def _merge(into: Tree, said: Mapping[str, Any]) -> None:
    for key, value in said.items():
        if value is None:
            into.pop(key, None)
        elif into.get(key) != value:
            into[key] = _written(value)


def drop_model(name: str) -> Change:
    return lambda tree: _drop(tree, "models", name)


def drop_channel(name: str) -> Change:
    return lambda tree: _drop(tree, "channels", name)


def drop_calendar(name: str) -> Change:
    return lambda tree: _drop(tree, "calendars", name)


def _drop(tree: Tree, section: str, name: str) -> None:
    del tree[section][name]
    if not tree[section]:
        del tree[section]


def use_models(names: Sequence[str]) -> Change:
    """`model.use`, in this order."""

    def change(tree: Tree) -> None:
        if "model" not in tree:
            tree["model"] = {"use": list(names)}
            return
        found = tree["model"].get("use")
        if not isinstance(found, MutableSequence) or not _brought_into(found, names):
            tree["model"]["use"] = list(names)

    return change


def put_agent(name: str, said: Mapping[str, Any]) -> Change:
    """`[agents.NAME]`, in the same way."""
    return lambda tree: _put(tree, "agents", name, said)


def put_server(name: str, said: Mapping[str, Any]) -> Change:
    """`[mcp.NAME]`, in the same way."""
    return lambda tree: _put(tree, "mcp", name, said)


def drop_server(name: str) -> Change:
    return lambda tree: _drop(tree, "mcp", name)


def put_budget(purse: str, said: Mapping[str, Any]) -> Change:
    """`[budget.PURSE]`, in the same way."""
    return lambda tree: _put(tree, "budget", purse, said)


def set_value(section: str, key: str, value: str) -> Change:
    """One word of a section."""

    def change(tree: Tree) -> None:
        if section not in tree:
            tree[section] = {}
        tree[section][key] = value

    return change


def version_of(file: Path) -> str:
    """Of the file as it is: another one as soon as a single letter is."""
    data = file.read_bytes() if file.exists() else b""
    return hashlib.sha256(data).hexdigest()[:16]


def edit(file: Path, *changes: Change, version: str | None = None) -> config.Settings:
    """Makes the changes, all or none; returns what the file says now. Raises Misconfigured, and then nothing has changed.

    `version`: the one that somebody read before they decided; raises Outdated where the file is another by now.
    """
    config.load(file, {})  # says what is wrong with the file as it is
    if version is not None and version != version_of(file):
        raise Outdated(f"{file.name} was changed since you read it, and nothing was written over; look at it again, then change it")
    old = file.read_bytes().decode("utf-8") if file.exists() else ""
    tree = tomllib.loads(old)
    for change in changes:
        change(tree)
    new = _rewritten(old, changes)
    if new is None or tomllib.loads(new) != tree:
        raise Misconfigured(f"{file} is laid out in a way that a command cannot change safely; write this by hand:\n{_asked(tree)}")
    settings = _checked(file, new)
    try:
        files.replace(file, new.encode("utf-8"))
    except OSError as error:
        raise Misconfigured(f"{file} cannot be written: {error.strerror}") from None
    return settings


def _rewritten(old: str, changes: Sequence[Change]) -> str | None:
    """None: the library lost its way, or would write what nobody can read."""
    import tomlkit  # a gateway has this module, and changes settings rarely
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(old)
        for change in changes:
            change(document)
        new = tomlkit.dumps(document)
        tomllib.loads(new)
    except (TOMLKitError, tomllib.TOMLDecodeError):
        return None
    return new


def _checked(file: Path, text: str) -> config.Settings:
    draft = file.with_name(f".{file.name}.{os.getpid()}.check")
    try:
        files.replace(draft, text.encode("utf-8"))
        return config.load(draft, {})
    except OSError as error:
        raise Misconfigured(f"{file} cannot be written: {error.strerror}") from None
    except Misconfigured as bad:
        raise Misconfigured(str(bad).replace(str(draft), str(file))) from None
    finally:
        draft.unlink(missing_ok=True)


def _brought_into(found: MutableSequence[Any], names: Sequence[str]) -> bool:
    """Takes out and puts in single names, so that comments between the others stay. False: the order itself changed."""
    for name in [name for name in found if name not in names]:
        found.remove(name)
    for place, name in enumerate(names):
        if name not in found:
            found.insert(place, name)
    return list(found) == list(names)


def _written(value: Any) -> Any:
    """As TOML has it: prices on one line and to the last digit, nothing where nothing is."""
    import tomlkit

    match value:
        case Decimal():
            return tomlkit.value(f"{value.normalize():f}")
        case Mapping() if "input" in value:
            table = tomlkit.inline_table()
            table.update({key: _written(inner) for key, inner in value.items() if inner is not None})
            return table
        case Mapping():
            return {key: _written(inner) for key, inner in value.items() if inner is not None}
        case _:
            return value


def _asked(tree: Tree) -> str:
    import tomlkit

    return tomlkit.dumps({key: tree[key] for key in ("model", "models", "channels", "agents", "budget", "backup", "mcp") if key in tree})
