"""The recipe of the container image, as far as it can be checked without an engine: what it says, and what its steps do.

The steps are replayed in a directory: what COPY copies, the bootstrap that RUN runs (from uv's cache alone, never from a network), and what
ENTRYPOINT and HEALTHCHECK start, as an ordinary user with the Python of the system. What an engine does around that is not checked.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.processes import finish, read_line
from tests.machine.ordinary import UID, directory_of, only_root

from daimon import __version__

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
HOME = "/var/lib/daimon"
DEADLINE_S = 120.0
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Step:
    word: str
    rest: str

    def words(self) -> list[str]:
        """Of the form that starts no shell."""
        words = json.loads(self.rest[self.rest.index("[") :])
        assert isinstance(words, list)
        return words


def stages() -> list[list[Step]]:
    text = "\n".join(line for line in (PACKAGING / "Containerfile").read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    made: list[list[Step]] = []
    for line in filter(str.strip, text.replace("\\\n", " ").splitlines()):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            made.append([])
        made[-1].append(Step(word, rest.strip()))
    return made


def copies(stage: list[Step]) -> Iterator[tuple[list[str], str]]:
    """What is copied from the checkout, and where to."""
    for step in stage:
        if step.word == "COPY" and not step.rest.startswith("--from="):
            *sources, target = step.rest.split()
            yield sources, target


def last(word: str) -> Step:
    """Of the image itself, the last one counts."""
    return [step for step in stages()[-1] if step.word == word][-1]


# -- what it says


def test_every_instruction_is_one_and_nothing_comes_from_an_address() -> None:
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "VOLUME", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}
    steps = [step for stage in stages() for step in stage]
    assert {step.word for step in steps} <= known  # so no ADD
    assert not [step for step in steps if "://" in step.rest]
    assert all(re.fullmatch(r"debian:[a-z]+-slim( AS \w+)?", step.rest) for step in steps if step.word == "FROM")


def test_what_is_copied_is_there_not_ignored_and_let_through_to_the_engine() -> None:
    lines = (PACKAGING / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    sources = {source for stage in stages() for found, _ in copies(stage) for source in found}
    assert sources == let_through
    assert not [source for source in sources if not (ROOT / source).exists()]
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("what is ignored is known only where there are git and its directory")
    ignored = subprocess.run(["git", "check-ignore", *sources], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout == ""


def test_the_bootstrap_finds_all_that_it_wants_of_the_distribution() -> None:
    """Else it would run apt-get, or go on without."""
    wanted = set(re.findall(r'"(python3-pip|bubblewrap)", "', (ROOT / "daimon").read_text(encoding="utf-8")))
    assert wanted == {"python3-pip", "bubblewrap"}
    build, image = ({word for step in stage if step.word == "RUN" for word in step.rest.split()} for stage in stages())
    assert wanted <= build
    assert "bubblewrap" in image
    assert "python3-pip" not in image


def test_the_image_runs_the_gateway_as_an_ordinary_user_and_keeps_state_in_a_volume() -> None:
    words = [step.word for step in stages()[-1]]
    assert last("USER").rest == "daimon"
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert words.index("USER") > max(n for n, word in enumerate(words) if word in {"RUN", "COPY"})
    assert last("VOLUME").words() == [HOME]
    assert last("ENV").rest == f"HOME={HOME}"
    assert last("ENTRYPOINT").words() == ["./daimon", "up"]
    made = next(step.rest for step in stages()[-1] if "useradd" in step.rest)
    assert f"--home-dir {HOME} --shell /usr/sbin/nologin daimon" in made
    assert "--uid 731" in made


# -- what its steps do


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """The directory /opt/daimon of the image. Skips where uv's cache does not hold what the lock file pins."""
    uv = os.environ.get("DAIMON_UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv: run it with ./daimon test, or put uv on PATH")
    with directory_of(os.geteuid()) as place:
        (place / "bin").mkdir()
        (place / "bin" / "uv").symlink_to(uv)
        (opt := place / "opt").mkdir()
        for sources, target in copies(stages()[0]):
            for source in sources:
                _copy(ROOT / source, opt / target, is_directory=target.endswith("/") or len(sources) > 1)
        run = next(step.rest for step in stages()[0] if step.word == "RUN" and "./daimon" in step.rest)
        environ = {**os.environ, "PATH": f"{place / 'bin'}:{SYSTEM_PATH}", "UV_OFFLINE": "1"}
        done = subprocess.run(
            ["sh", "-ec", f"umask 022; {run}"], cwd=opt, env=environ, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )
        if done.returncode and re.search("[Nn]etwork|offline", done.stderr):
            pytest.skip("uv's cache does not hold every file that requirements.lock pins for the Python of the system")
        assert (done.returncode, done.stdout) == (0, f"{__version__}\n"), done.stderr
        assert not (opt / ".tools").exists()
        yield opt


def _copy(source: Path, target: Path, is_directory: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target / source.name if is_directory else target)


@only_root
def test_an_ordinary_user_starts_it_without_installing_anything(image: Path) -> None:
    done = as_daimon(["./daimon", "--version"], image, image)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


@only_root
def test_what_the_image_starts_becomes_healthy_and_is_not_before(image: Path) -> None:
    check = last("HEALTHCHECK").words()
    with directory_of(UID) as home:
        assert as_daimon(check, image, home).returncode != 0
        gateway = subprocess.Popen(
            [*last("ENTRYPOINT").words(), "--port", "0"], cwd=image, env={"PATH": SYSTEM_PATH, "HOME": str(home)},
            user=UID, group=UID, extra_groups=[], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert read_line(gateway).startswith("ready ")
            assert as_daimon(check, image, home).returncode == 0
        finally:
            done = finish(gateway, signal.SIGTERM)
        assert done.code == 0
        assert as_daimon(check, image, home).returncode != 0


def as_daimon(words: list[str], image: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words, cwd=image, env={"PATH": SYSTEM_PATH, "HOME": str(home)}, user=UID, group=UID, extra_groups=[],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip


# -- compose.yaml


def compose() -> dict[str, Any]:
    """The file, read by the few rules of YAML that it uses: indented maps, lists of words."""
    root: dict[str, Any] = {}
    open_maps: list[tuple[int, Any]] = [(-1, root)]
    for line in (PACKAGING / "compose.yaml").read_text(encoding="utf-8").splitlines():
        indent, text = len(line) - len(line.lstrip()), line.strip()
        if not text or text.startswith("#"):
            continue
        while open_maps[-1][0] >= indent:
            open_maps.pop()
        holder = open_maps[-1][1]
        if text.startswith("- "):
            holder.setdefault("-", []).append(text[2:])
            continue
        key, _, value = text.partition(":")
        holder[key] = value.strip() or {}
        if not value.strip():
            open_maps.append((indent, holder[key]))
    return root


def test_the_service_can_write_to_its_volume_and_a_small_tmp_only_and_has_no_capability_and_no_port() -> None:
    service = compose()["services"]["daimon"]
    assert service["read_only"] == "true"
    assert service["cap_drop"]["-"] == ["ALL"]
    assert service["volumes"]["-"] == [f"home:{HOME}"]
    assert [place.partition(":")[0] for place in service["tmpfs"]["-"]] == ["/tmp"]
    assert service["ulimits"] == {"core": "0"}
    assert {"ports", "privileged", "cap_add", "devices", "network_mode", "pid", "user"}.isdisjoint(service)


def test_the_service_allows_what_boxes_need_and_no_new_privileges() -> None:
    options = compose()["services"]["daimon"]["security_opt"]["-"]
    assert options == ["no-new-privileges:true", "seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"]


def test_the_service_builds_the_recipe_of_this_checkout() -> None:
    build = compose()["services"]["daimon"]["build"]
    context = (PACKAGING / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()


def test_compose_understands_the_file() -> None:
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker compose is not installed")
    done = subprocess.run(
        ["docker", "compose", "-f", str(PACKAGING / "compose.yaml"), "config", "--quiet"],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
