"""What commands say: those that look, those that fail, on a home that is served, on one that nobody serves, on one that is sealed."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from lab.gate import Gate
from lab.planted import PARROT, PASSPHRASE, QUOTING
from lab.rounds import Tour

AT_ONCE = 3
LOOKS = ("trace", "turns", "letters", "decisions", "questions")
OPENS = {"DAIMON_VAULT_PASSPHRASE": PASSPHRASE}


async def looking(tour: Tour, gate: Gate, late: str) -> list[tuple[str, ...]]:
    """Those that look, and work whether or not somebody runs."""
    wanted = {"late": late}
    for name in ("crash", "a question to the owner", "in its own name", "of 3"):
        id_ = next(errand.id for errand in tour.errands.values() if errand.name == name)
        wanted[name] = (await gate.data(f"/v1/turns?conversation={id_}"))[0]["id"]
    wanted["quoted"] = (await gate.data("/v1/turns?conversation=quoting-1"))[0]["id"]
    traces = [("trace", turn) for turn in wanted.values()]
    steps = (await gate.data(f"/v1/turns/{late}"))["steps"]
    prompts = [("trace", late, "--prompt", str(step["n"])) for step in steps if step["body"].get("request")]
    lists: list[tuple[str, ...]] = [
        ("status",), ("turns", "--limit", "1000"), ("questions",), ("decisions",), ("letters", "--limit", "1000"), ("costs",),
        ("secrets", "list"), ("secrets", "who", "host"), ("model", "list"), ("config",),
    ]  # fmt: skip
    as_json = [(*words, "--json") for words in (*traces[:3], *lists[1:5], lists[6])]
    return [*traces, *lists, *as_json, *prompts]


async def live(tour: Tour, gate: Gate) -> list[tuple[str, ...]]:
    question = (await gate.data("/v1/questions"))[0]["to"]
    step = question if isinstance(question, str) else f"{question['turn']}:{question['n']}"
    chat = next(errand.id for errand in tour.errands.values() if errand.name == "plain" and errand.group == "words of a model")
    names = [f"quoting-{QUOTING.index(kind)}" for kind in ("401", "page", "redirect", "of the environment")]
    tests = [("model", "test", name) for name in names]
    asked = [("model", "list", "--at", name) for name in names]
    return [
        ("model", "test", PARROT), ("model", "test", PARROT, "--json"), *tests, *asked, ("answer", step, "no"), ("reload",),
        ("chat", f"errand {chat};", "--conversation", "aloud"), ("chat", f"errand {chat};", "--json", "--conversation", "counted"),
    ]  # fmt: skip


def run(tour: Tour, group: str, commands: Iterable[tuple[str, ...]], *more: str, **environment: str) -> None:
    commands = list(commands)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for words, said in zip(commands, threads.map(lambda words: tour.planted.run(*words, **environment), commands), strict=True):
            tour.look(group, _shown(tour, words), said, *more, "environment")


def _shown(tour: Tour, words: tuple[str, ...]) -> str:
    text = " ".join(words)
    for canary in tour.planted.canaries.values():
        text = text.replace(canary.value, "VALUE")
    return text


def afterwards(tour: Tour, commands: list[tuple[str, ...]]) -> None:
    run(tour, "command, nobody running", [words for words in commands if words[0] in LOOKS], "late")
    _sealed_with_a_passphrase(tour, commands)
    _broken_starts(tour)
    _broken_commands(tour)
    _keys_of_before(tour)


def _sealed_with_a_passphrase(tour: Tour, commands: list[tuple[str, ...]]) -> None:
    said = tour.planted.run("secrets", "seal", "--with", "passphrase", stdin=PASSPHRASE + "\n")
    tour.look("vault with a passphrase", "seal", said)
    looking = [words for words in commands if words[0] in LOOKS and words[1:2] != ("--json",)]
    run(tour, "vault with a passphrase, not given", looking[::2], "late")


def _broken_starts(tour: Tour) -> None:
    home, one = tour.planted.home, tour.planted.texts["one"]
    for words in (("up", "--port", "0"), ("--debug", "up", "--port", "0"), ("up", "--port", "0", "--json"), ("chat", "hello")):
        said = tour.planted.run(*words, LEAK_CRASH="plain", **OPENS)
        tour.look("broken start", f"an extension fails: {' '.join(words)}", said)
    good = (home / "daimon.toml").read_text()
    faults = {
        "a value where a number belongs": f'{good}\n[kernel]\nslots = "{one}"\n',
        "a value as a name": f'{good}\n[kernel]\n"{one}" = 1\n',
        "no TOML": f"{good}\n[kernel\n{one} = {one}\n",
        "a value as an address": good.replace("[network.local]", f'[network.local]\nx = "{one}"'),
        "a value as a model": good.replace('use = ["echo"]', f'use = ["{one}"]'),
        "a value as a vendor": f'{good}\n[models.bad]\nvendor = "{one}"\nmodel = "x"\n',
        "a value as an extension": good.replace('"lab.leaky"', f'"{one}"'),
        "a value as a role": good.replace('role = "online"', f'role = "{one}"'),
    }
    for name, text in faults.items():
        (home / "daimon.toml").write_text(text)
        tour.look("broken start", name, tour.planted.run("--debug", "up", "--port", "0", **OPENS))
    (home / "daimon.toml").write_text(good)


def _broken_commands(tour: Tour) -> None:
    one = tour.planted.texts["one"]
    wrong = [("trace", one), ("secrets", "remove", one), ("model", "test", one), ("answer", one, one), ("secrets", "add", f"a/{one}")]
    run(tour, "broken command", (*wrong, *(("--debug", *each) for each in wrong[:3])), **OPENS)


def _keys_of_before(tour: Tour) -> None:
    """A file of an older release: what is wrong with it is said without its words, and what is right moves into the vault."""
    keys, value = tour.planted.home / "keys.toml", tour.planted.value("before")
    texts = {
        "no TOML": f'[keys]\nx = "{value}',
        "a list": f'[keys]\nx = ["{value}"]\n',
        "no table": f'x = "{value}"\n',
        "twice": f'[keys]\n"a b" = "{value}"\n"a-b" = "{value}"\n',
        "moved": f'[keys]\nbefore = "{value}"\n',
    }
    for name, text in texts.items():
        keys.write_text(text)
        keys.chmod(0o600)
        tour.look("keys of before", name, tour.planted.run("model", "list", **OPENS), "before")
    tour.look("keys of before", "the vault", (tour.planted.home / "vault.sealed").read_bytes(), "before")
    tour.look("keys of before", "what is left of the file", keys.read_bytes() if keys.exists() else b"nothing", "before")
