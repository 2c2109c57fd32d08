"""The one settings tree: defaults, then daimon.toml, then DAIMON_SECTION__KEY variables.

Unknown keys are errors, and an error says which key, in which file, what was found and what was expected. Nobody but `boot`
and the command line reads this module; each part gets its own branch.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from daimon.abi.errors import Misconfigured
from daimon.abi.step import Hold
from daimon.context.assemble import Paging
from daimon.context.budget import TokenBudget
from daimon.kernel.manner import Manner, quiet_hours
from daimon.kernel.outflow import Outflow
from daimon.machine.home import Home as Home
from daimon.vault import shapes

PREFIX = "DAIMON_"
OURS = frozenset({"DAIMON_HOME", "DAIMON_UV", "DAIMON_CHECKOUT"})
"""Variables that are not settings."""


def _zone(name: str) -> str:
    if name and name not in available_timezones():
        raise ValueError(f"{name!r} is not a time zone such as Europe/Berlin")
    return name


def _as_list(value: object) -> object:
    """One name is a list of one; from the environment, names stand between commas."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class _Branch(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Owner(_Branch):
    name: str = ""
    timezone: Annotated[str, AfterValidator(_zone)] = ""
    """An IANA name such as Europe/Berlin; empty means the machine's own."""


class Gateway(_Branch):
    host: Literal["127.0.0.1", "::1"] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Left out: 7310, or any free one if that is taken."""
    max_event_bytes: Annotated[int, Field(ge=1_024, le=64 * 1024 * 1024)] = 8 * 1024 * 1024
    public_url: Annotated[str, Field(pattern=r"^(https?://[^/?#]+)?$")] = ""
    """Where a proxy or tunnel of yours is reached from outside, such as https://daimon.example.org. It passes on `/hooks/` only."""


def _amount(cost: Decimal) -> Decimal:
    if cost == 0:
        raise ValueError('a price of zero would spend without limit; if the model is really free (your own hardware), write price = "free"')
    return cost


Cost = Annotated[Decimal, Field(ge=0, le=1_000_000)]
Tokens = Annotated[int, Field(ge=1)]


class Price(_Branch):
    """Dollars a million tokens."""

    input: Annotated[Decimal, Field(ge=0), AfterValidator(_amount)]
    output: Annotated[Decimal, Field(ge=0), AfterValidator(_amount)]
    cache_read: Annotated[Decimal, Field(ge=0)] | None = None
    """Left out: as input."""
    cache_write: Annotated[Decimal, Field(ge=0)] | None = None
    """Left out: as input; for models of Anthropic, a quarter more."""


WORD, TABLE = "a word", "a table"
OwnPrice = Annotated[Price, Tag(TABLE)]
KnownPrice = Annotated[Literal["library", "free", "unknown"], Tag(WORD)]


def _kind_of_price(value: object) -> str:
    return WORD if isinstance(value, str) else TABLE


class Model(_Branch):
    use: Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(min_length=1)] = ("reflex",)
    """Which models answer, the first that can and may: `reflex`, names of `[models]`, names from extensions. The rest stand in for it."""
    first_token_s: Annotated[float, Field(gt=0)] = 120.0
    """How long a model may be silent before it says anything."""
    next_token_s: Annotated[float, Field(gt=0)] = 60.0
    """How long it may be silent in the middle of a reply."""
    whole_s: Annotated[float, Field(gt=0)] = 1_800.0
    """How long a whole reply may take."""
    max_output_tokens: Tokens = 8_192
    """The longest reply; it is also what is reserved for one."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    """How many alternatives of each token to keep, where the provider gives them."""


class ModelEntry(_Branch):
    """A model of `[models]`. `daimon model add` writes it."""

    vendor: str
    """anthropic, openai, google, deepseek, openrouter, ollama, lmstudio, llamacpp, vllm, or compatible for any other such address."""
    model: str
    """As the vendor calls it."""
    base_url: str | None = None
    """Left out: the vendor's own."""
    key: str | None = None
    """`vault:NAME`, a secret of the vault, or `env:NAME`, a variable of the environment. Left out: the secret with the vendor's name."""
    price: Annotated[OwnPrice | KnownPrice, Discriminator(_kind_of_price)] = "library"
    """`library`: from the price list that comes with Daimon."""
    max_output_tokens: Tokens | None = None
    context_tokens: Tokens | None = None
    """How much it can read at once. Left out: what is known of it."""
    tools: bool = True
    images: bool | None = None
    local: bool | None = None
    """Do the words stay on your own hardware? Left out: as the address says."""
    thinking: Literal["off", "low", "medium", "high"] | None = None
    text_calls: bool | None = None
    """Look for tool calls in its text, as small local models write them. Left out: only for compatible servers."""
    per_minute: Annotated[int, Field(ge=1)] | None = None
    """At most so many calls."""


class Route(_Branch):
    """An exception to `model.use`: the first that fits counts."""

    conversations: tuple[str, ...] = ()
    """Names with * and ?. Left out: all."""
    agents: tuple[str, ...] = ()
    use: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    """Left out: as `model.use`."""
    local_only: bool = False
    """Nothing leaves your hardware."""
    max_call_cost: Cost | None = None
    """A model that may cost more for one call is passed over."""


class Kernel(_Branch):
    slots: Annotated[int, Field(ge=1, le=1_000)] = 16
    newer: Literal["wait", "steer", "interrupt"] = "wait"
    """What a newer message does to a running turn of its conversation."""
    drain_s: Annotated[float, Field(ge=0, le=600)] = 10.0


class Limits(_Branch):
    """What one turn may take, besides money."""

    steps: Annotated[int, Field(ge=1)] = 200
    active_s: Annotated[float, Field(gt=0)] = 1_800.0
    errors: Annotated[int, Field(ge=1)] = 5
    pause_share: Annotated[float, Field(gt=0, le=1)] = 0.9


def _quiet(hours: str) -> str:
    quiet_hours(hours)
    return hours


class Asking(_Branch):
    """How people are asked."""

    timeout_h: Annotated[float, Field(gt=0, le=24 * 365)] = 72.0
    """A question whether something may be done counts as answered with no after so many hours."""
    quiet: Annotated[str, AfterValidator(_quiet)] = ""
    """Hours such as 22:00-07:00 in which no question is sent, unless it is about money; it waits for their end."""
    undo_s: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    """A call that was allowed and reaches somebody waits so long for a `stop`; 0: it does not."""
    private_characters: Annotated[int, Field(ge=0)] = 20_000
    """So much free text may go to one destination in a day without a question, in turns that read something private."""
    other_characters: Annotated[int, Field(ge=0)] = 200_000
    """So much in all other turns."""
    to: str = ""
    """The channel on which the owner is asked; empty: where the owner spoke last."""


class People(_Branch):
    """Who else than the owner talks to the agent."""

    guest_tools: tuple[str, ...] = ("now", "find_tools")
    """The tools that there are in a guest's turn and in groups. Whatever the rules ask about is asked of the owner all the same."""


NONE = "none"


def _or_none(value: object) -> object:
    return None if value == NONE else value


TokenLimit = Annotated[Tokens | None, BeforeValidator(_or_none)]
CostLimit = Annotated[Cost | None, BeforeValidator(_or_none)]


class Purse(_Branch):
    """A limit; "none" is as much as it takes."""

    tokens: TokenLimit = None
    cost: CostLimit = None
    """US dollars."""


class TaskPurse(Purse):
    tokens: TokenLimit = 2_000_000


class DayPurse(Purse):
    cost: CostLimit = Decimal(5)
    """US dollars."""


class MonthPurse(Purse):
    cost: CostLimit = Decimal(50)
    """US dollars."""


class Budget(_Branch):
    """What models may cost. Every call is charged to all of these, and happens only if its worst case fits into each."""

    turn: TaskPurse = TaskPurse()
    """One task, with all that it starts."""
    conversation: Purse = Purse()
    """One conversation, a day."""
    job: Purse = Purse()
    """One automation, a day."""
    agent: Purse = Purse()
    """One agent, a day."""
    day: DayPurse = DayPurse()
    month: MonthPurse = MonthPurse()
    unknown_price: Literal["ask", "allow"] = "ask"
    """A call whose price nobody knows, where a limit in money stands."""


class Context(_Branch):
    budget_tokens: Annotated[int, Field(ge=1_000)] = 64_000
    """The most that a request may have, however much its model reads."""
    system_tokens: Annotated[int, Field(ge=0)] = 2_000
    """Kept free for the system text and the page."""
    tools_tokens: Annotated[int, Field(ge=0)] = 8_000
    """Kept free for tools; those that do not fit are found by search."""
    output_tokens: Annotated[int, Field(ge=0)] = 4_000
    """Kept free for the reply."""
    recall_tokens: Annotated[int, Field(ge=0)] = 2_000
    """The most that memory may take by itself; 0: nothing is recalled before the model is asked."""
    system: str = ""
    """Words of the owner's own for every prompt."""
    hold: Hold = "never"
    """Which words of strangers the model does not see: none, long texts, all."""
    closed_answers: Annotated[int, Field(ge=0, le=1_000)] = 20
    """How many closed answers about held words one turn may have."""
    summarizer: str = ""
    """A name of `[models]` that summarises what leaves the window; empty: by extraction only."""


class Memory(_Branch):
    embeddings: Annotated[str, Field(min_length=1)] = "local"
    """Who makes the vectors that things are found by their meaning with: `local`, `off`, or a name of `[models]`."""


class Agent(_Branch):
    """An agent of `[agents]`. The built-in one is called `daimon`."""

    role: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = None
    """What the policies call `Role`. Left out: `assistant` for `daimon`, `reader` for every other."""
    tools: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ("*",)
    """The tools that it holds, by name, with * and ?."""
    may_hold_all: bool = False
    """It may read what is private, read what strangers wrote, and act, without each act being asked."""
    description: str = ""
    box: str | None = None
    """The role of its boxes. Left out: as `sandbox.role`."""


class Sandbox(_Branch):
    """Where commands run."""

    role: str = "worker"
    """What a box may do: analyst, refactorer, deployer, worker, or a file of yours in `roles`."""
    workspace: str = ""
    """The directory that boxes work in. Left out: `workspace` in the home."""
    idle_minutes: Annotated[float, Field(gt=0, le=7 * 24 * 60)] = 30.0
    """A box that nobody used for so long is closed."""
    most: Annotated[int, Field(ge=1, le=256)] = 8
    """So many boxes at once."""
    uid: Annotated[int, Field(ge=1, le=2**31)] = 59_001
    """Whom a box becomes on the machine when Daimon is started by root."""
    layers_mb: Annotated[int, Field(ge=100)] = 20_000
    """So many megabytes may all layers of workspaces take on the disk."""


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    ip_address(host.strip("[]"))
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is not an address with a port such as 192.168.1.4:443")
    return text


class Network(_Branch):
    """The way out of boxes."""

    local: dict[str, Annotated[str, AfterValidator(_address)]] = {}
    """Names with the address and port that each stands for: the only way to reach something in your own network."""
    requests: bool = False
    """May agents change things through web APIs (`http_request`)? One that also reads private things is then asked for each act."""


Secret = Annotated[str, Field(pattern=r"^(vault|env):.+$")]
"""`vault:NAME`, a secret of the vault, or `env:NAME`, a variable of the environment."""


class Telegram(_Branch):
    token: Secret = "vault:telegram"
    """Of the bot, as @BotFather gave it."""
    by: Literal["polling", "webhook"] = "polling"
    """Fetch updates, which works behind any firewall, or have them posted to `public_url`."""
    api: str = "https://api.telegram.org"


class Slack(_Branch):
    bot_token: Secret = "vault:slack-bot"
    """Begins with xoxb-."""
    app_token: Secret = "vault:slack-app"
    """Begins with xapp-; for socket mode."""
    api: str = "https://slack.com/api"


class Mail(_Branch):
    address: str
    """The agent's own; mail to it is for the agent."""
    imap: str
    """HOST or HOST:PORT."""
    smtp: str
    user: str = ""
    """Left out: the address."""
    password: Secret = "vault:mail"
    security: Literal["tls", "starttls", "none"] = "tls"
    """`tls`: a server named with port 587, 143 or 25 is spoken to by STARTTLS. `none`: for a server on this machine only."""
    inbox: str = "INBOX"
    sent: str = ""
    """The folder that sent mail is kept in and looked for. Left out: the one that the server calls so."""
    keeps_sent: bool = False
    """The server puts what it sends into that folder by itself, as Gmail does."""
    name: str = ""
    """What stands beside the address."""
    per_minute: Annotated[int, Field(ge=1, le=100_000)] = 30
    """So many mails leave at most, a third of it to one place."""
    authserv_id: str = ""
    """Who is believed about senders: the name that your receiving server puts first into the `Authentication-Results` of every mail, such
    as mx.google.com. Left out: nobody, and every sender is `unverified:ADDRESS`."""


class Matrix(_Branch):
    homeserver: str
    """Such as https://matrix.org."""
    user: str
    """Such as @agent:matrix.org."""
    token: Secret = "vault:matrix"


class Channels(_Branch):
    """How people reach the agent. `daimon channel add` writes these."""

    telegram: Telegram | None = None
    slack: Slack | None = None
    mail: Mail | None = None
    matrix: Matrix | None = None


OFF = "off"


class Backup(_Branch):
    """Backups that a running gateway makes by itself."""

    every: Annotated[str, Field(pattern=r"^(off|[1-9][0-9]{0,3}[hdw])$")] = "1d"
    """How often, such as 12h, 1d or 1w, if something happened since the last one; `off`: never."""
    to: str = ""
    """The directory that they go to, better on another disk. Left out: `backups` in the home."""
    keep_daily: Annotated[int, Field(ge=0, le=1_000)] = 7
    """The last one of each of so many days stays."""
    keep_weekly: Annotated[int, Field(ge=0, le=1_000)] = 4
    keep_monthly: Annotated[int, Field(ge=0, le=1_000)] = 3
    most_mb: Annotated[int, Field(ge=1)] = 5_000
    """So many megabytes may all of them take; the oldest go first, the newest never."""
    workspaces: bool = True
    """With what agents work on, as long as that is no more than `most_mb`."""
    vault_key: bool = True
    """With `vault.key`, if that opens the vault; else it must be kept elsewhere."""


def _pattern(words: str) -> str:
    if not words.strip():
        raise ValueError("a pattern needs at least one word, such as 'terraform destroy'")
    return words


class Floor(_Branch):
    """What never runs, whatever any policy says, besides what Daimon refuses by itself."""

    never: Annotated[tuple[Annotated[str, AfterValidator(_pattern)], ...], BeforeValidator(_as_list)] = ()
    """Commands, as words with * and ?."""


class Settings(_Branch):
    owner: Owner = Owner()
    gateway: Gateway = Gateway()
    model: Model = Model()
    models: dict[str, ModelEntry] = {}
    """By the names that you give them."""
    routes: tuple[Route, ...] = ()
    budget: Budget = Budget()
    agents: dict[str, Agent] = {}
    """By name."""
    kernel: Kernel = Kernel()
    limits: Limits = Limits()
    asking: Asking = Asking()
    people: People = People()
    floor: Floor = Floor()
    context: Context = Context()
    memory: Memory = Memory()
    sandbox: Sandbox = Sandbox()
    network: Network = Network()
    channels: Channels = Channels()
    backup: Backup = Backup()
    extensions: tuple[str, ...] = ()
    """Python modules with a function `extend(kit)`, which may add tools, models and channels."""


def home_at(given: Path | None) -> Home:
    return Home((given or Path(os.environ.get("DAIMON_HOME") or Path.home() / ".daimon")).expanduser().absolute())


def load(file: Path, environment: Mapping[str, str]) -> Settings:
    tree = _read(file)
    overrides = _from_environment(environment)
    try:
        return Settings.model_validate(_merged(tree, overrides))
    except ValidationError as bad:
        own = {section: keys for section, keys in overrides.items() if isinstance(tree.get(section, {}), dict)}
        lines = [_explain(error, file, own) for error in bad.errors(include_url=False)]
        raise Misconfigured("\n".join(lines)) from None


def system_zone() -> str:
    """The machine's own zone, as an IANA name."""
    link = os.path.realpath("/etc/localtime")
    name = link.partition("/zoneinfo/")[2]
    return name if name in available_timezones() else "UTC"


def zone(settings: Settings) -> ZoneInfo:
    return ZoneInfo(settings.owner.timezone or system_zone())


def manner(settings: Settings) -> Manner:
    asked = settings.asking
    return Manner(zone(settings), timedelta(hours=asked.timeout_h), quiet_hours(asked.quiet), timedelta(seconds=asked.undo_s))


def paging(settings: Settings) -> Paging:
    asked = settings.context
    budget = TokenBudget(asked.budget_tokens, asked.system_tokens, asked.tools_tokens, asked.output_tokens)
    return Paging(budget, asked.recall_tokens, bool(asked.summarizer))


def outflow(settings: Settings) -> Outflow:
    return Outflow(zone(settings), {"private": settings.asking.private_characters, "other": settings.asking.other_characters})


def local_hosts(settings: Settings) -> dict[str, tuple[str, int]]:
    pairs = {name.lower(): address.rpartition(":") for name, address in settings.network.local.items()}
    return {name: (host.strip("[]"), int(port)) for name, (host, _, port) in pairs.items()}


def without_shapes(text: str) -> str:
    """Without what is shaped like a secret: for what a command says of its own, such as which line of the settings is wrong."""
    return shapes.without(text)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as bad:
        raise Misconfigured(f"{file} is not valid TOML: {bad}") from None
    except RecursionError:
        raise Misconfigured(f"{file} is not valid TOML: it is nested too deep") from None
    except UnicodeDecodeError as bad:
        raise Misconfigured(f"{file} is not valid UTF-8: byte {bad.start}") from None
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in environment.items():
        if name.startswith(PREFIX) and name not in OURS and "__" in name:
            *sections, key = name.removeprefix(PREFIX).lower().split("__")
            branch = tree
            for section in sections:
                inner = branch.get(section)
                branch[section] = branch = inner if isinstance(inner, dict) else {}
            branch[key] = value
    return tree


def _merged(tree: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    merged = dict(tree)
    for key, value in overrides.items():
        found = merged.get(key, {})
        if isinstance(value, dict):
            merged[key] = _merged(found, value) if isinstance(found, dict) else found
        else:
            merged[key] = value
    return merged


def _explain(error: Any, file: Path, overrides: dict[str, Any]) -> str:
    place = [str(part) for part in error["loc"] if part not in (WORD, TABLE)]
    key = ".".join(place)
    where = _variable(place, overrides) or str(file)
    if error["type"] == "extra_forbidden":
        known = _known(place[:-1])
        near = difflib.get_close_matches(place[-1], known, 1)
        return f"{where}: unknown key {key!r}" + (
            f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}" if known else ""
        )
    told = error["msg"].removeprefix("Value error, ")
    return f"{where}: {key}: {told}" + ("" if repr(error["input"]) in told else f", found {error['input']!r:.80}")


def _variable(place: list[str], overrides: dict[str, Any]) -> str:
    """The variable that brought the value at this place, or one below it; empty: none did."""
    found: Any = overrides
    names: list[str] = []
    for part in place:
        if not isinstance(found, dict) or part not in found:
            break
        found = found[part]
        names.append(part)
    while isinstance(found, dict) and len(names) >= len(place):
        names.append(next(iter(found)))
        found = found[names[-1]]
    return "" if isinstance(found, dict) else f"{PREFIX}{'__'.join(names)}".upper()


def _known(place: list[str]) -> list[str]:
    found: Any = Settings
    for part in place:
        if get_origin(found) is dict:  # tables by name, such as [agents.NAME]
            found = get_args(found)[1]
        elif _is_section(found) and part in found.model_fields:
            found = found.model_fields[part].annotation
        else:
            return []
    return list(found.model_fields) if _is_section(found) else []


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
