"""The texts say what is true: links lead somewhere, tables match the code, code in a page stands in examples/."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import apsw
import pytest

from daimon import config
from daimon.abi import errors
from daimon.abi.errors import DaimonError
from daimon.abi.event import Body
from daimon.abi.step import StepBody
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest, Operation
from daimon.journal.schema import MIGRATIONS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "daimon"
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.md")])
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = ("Situation.", "Decision.", "Rejected.", "Price.", "Revisit when")


def text(*place: str) -> str:
    return DOCS.joinpath(*place).read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def members(union: Any) -> list[type]:
    """The classes of an annotated union."""
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return list(get_args(inner)) if get_origin(inner) in (Union, UnionType) else [inner]


# -- every page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        place, _, anchor = target.partition("#")
        found = (page.parent / place).resolve() if place else page
        assert found.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(found), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_finished_and_names_no_place_of_one_machine(page: Path) -> None:
    assert not re.findall(r"TODO|FIXME|XXX|/work/|/tmp/|/root/|^(?:<{7}|={7}|>{7})", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_in_a_page_stands_in_an_example(page: Path) -> None:
    examples = [file.read_text(encoding="utf-8") for file in (ROOT / "examples").glob("*.py")]
    for block in blocks(page, "python"):
        assert any(block in example for example in examples), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_in_a_page_are_settings(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "toml"):
        (file := tmp_path / "daimon.toml").write_text(block, encoding="utf-8")
        assert config.load(file, {}) != config.Settings()


# -- pages of packages


@pytest.mark.parametrize("package", [package for package in PACKAGES if package != "cli"])  # its page is about commands
def test_every_package_has_a_page_that_names_its_files(package: str) -> None:
    page = text(f"{package}.md")
    named = set(re.findall(r"`([\w/]+\.py)`", page)) | {f"{place}/" for place in re.findall(r"`(\w+)/`", page)}
    files = {path.relative_to(SOURCE / package).as_posix() for path in (SOURCE / package).rglob("[!_]*.py")}
    assert not {file for file in files if file not in named and f"{file.split('/')[0]}/" not in named}
    assert f"`src/daimon/{package}/`" in page


@pytest.mark.parametrize("package", PACKAGES)
def test_a_page_tells_of_a_file_once_and_of_none_that_is_gone(package: str) -> None:
    rows = re.findall(r"^\| ([^|]+) \|", text(f"{package}.md").split("\n## ", 1)[0], re.MULTILINE)
    told = [file for row in rows for file in re.findall(r"`([\w/]+\.py)`", row)]
    assert sorted(told) == sorted(set(told))
    assert not [file for file in told if not list((SOURCE / package).rglob(file))]


def test_the_readme_names_every_package() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    modules = [path.name for path in SOURCE.glob("[!_]*.py")]
    assert not [name for name in [*(f"{package}/" for package in PACKAGES), *modules] if f"── {name}" not in readme]


def test_the_layers_are_those_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    checked = [_existing(layer) for layer in contracts[0]["layers"]]
    shown = next(block for block in blocks(DOCS / "architecture.md", "") if block.endswith("\nabi\n"))
    assert [_existing(line) for line in shown.splitlines()] == [layer for layer in checked if layer]


def _existing(layer: str) -> set[str]:
    names = {name.strip(" ()") for name in layer.split("|")}
    return {name for name in names if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()}


def test_the_config_page_matches_the_settings() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "config_page.py"), "--check"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}run scripts/config_page.py"


def test_the_journal_page_describes_every_table_and_column() -> None:
    connection = apsw.Connection(":memory:")
    for migration in MIGRATIONS:
        connection.execute(migration)
    sections = dict(re.findall(r"^### ([\w, ]+)\n(.*?)(?=^##)", text("journal.md"), re.MULTILINE | re.DOTALL))
    by_table = {table.strip(): body for tables, body in sections.items() for table in tables.split(",")}
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert by_table.keys() == tables
    for table, body in by_table.items():
        columns = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
        first_cells = "".join(re.findall(r"^\|([^|]+)\|", body, re.MULTILINE))
        shown = set(re.findall(r"`(\w+)`", first_cells))
        assert columns <= shown, table
        assert shown <= columns or "," in next(name for name in sections if table in name), table


def test_the_abi_page_lists_every_event_step_and_error() -> None:
    page = text("abi.md")
    assert not [body.__name__ for union in (Body, StepBody) for body in members(union) if f"`{body.__name__}`" not in page]
    raised = {kind.__name__: kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DaimonError)}
    table = page.split("## Errors")[1].split("## Stored form")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table, re.MULTILINE)) == raised
    assert {"DaimonError", *re.findall(r"[├└]── (\w+)", errors.__doc__ or "")} == raised.keys()


def test_the_tools_page_lists_every_field_class_and_operation() -> None:
    page = text("tools.md")
    words = [field.name for field in fields(Manifest)] + [word.value for kind in (Effect, Capability, ArgumentRole) for word in kind]
    words += [operation.__name__ for operation in members(Operation)]
    assert not [word for word in words if f"`{word}`" not in page]


# -- decisions


def test_every_decision_is_listed_numbered_and_whole() -> None:
    files = sorted(file.name for file in (DOCS / "decisions").glob("0*.md"))
    assert [int(name[:4]) for name in files] == list(range(1, len(files) + 1))
    listed = re.findall(r"^\| \[\d+\]\(([^)]+)\) \| (.+) \|$", text("decisions", "README.md"), re.MULTILINE)
    assert [name for name, _ in listed] == files
    for name, title in listed:
        page = text("decisions", name)
        assert page.startswith(f"# {name[:4]}: {title}\n")
        assert [section for section in SECTIONS if f"**{section}" not in page] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["embeddings"]
    run = {re.split(r"[^\w-]", name)[0] for name in (*project["dependencies"], *extra)}
    develop = {re.split(r"[^\w-]", name)[0] for name in project["optional-dependencies"]["dev"]}
    reasons = "".join(text("decisions", file.name) for file in (DOCS / "decisions").glob("0*.md"))
    assert not [name for name in run if f"`{name}`" not in reasons]
    assert not [name for name in develop if f"`{name}`" not in text("decisions", "0014-development-tools.md")]
