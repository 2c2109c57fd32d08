"""`[sandbox]`, `[network]`, `[floor]`: where commands run, whom they reach, and which never run."""

from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from daimon.config.branch import Branch, as_list


class Sandbox(Branch):
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


class Network(Branch):
    """The way out of boxes."""

    local: dict[str, Annotated[str, AfterValidator(_address)]] = {}
    """Names with the address and port that each stands for: the only way to reach something in your own network."""
    requests: bool = False
    """May agents change things through web APIs (`http_request`)? One that also reads private things is then asked for each act."""


def _pattern(words: str) -> str:
    if not words.strip():
        raise ValueError("a pattern needs at least one word, such as 'terraform destroy'")
    return words


class Floor(Branch):
    """What never runs, whatever any policy says, besides what Daimon refuses by itself."""

    never: Annotated[tuple[Annotated[str, AfterValidator(_pattern)], ...], BeforeValidator(as_list)] = ()
    """Commands, as words with * and ?."""
