"""`[gateway]`: where it listens, and from where the control room may be opened."""

from ipaddress import ip_address, ip_network
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from daimon.config.branch import Branch, as_list


def _host(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError(f"{text!r} is no address of this machine such as 127.0.0.1, ::1 or 192.168.1.4") from None


def _proxy(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError:
        raise ValueError(f"{text!r} is no address or network such as 127.0.0.1 or 10.0.0.0/24") from None


Origin = Annotated[str, Field(pattern=r"^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$")]


class Gateway(Branch):
    host: Annotated[str, AfterValidator(_host)] = "127.0.0.1"
    """The address to listen on. Any other than 127.0.0.1 and ::1 is reached from the network, and needs `origins`."""
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Left out: 7310, or any free one if that is taken."""
    max_event_bytes: Annotated[int, Field(ge=1_024, le=64 * 1024 * 1024)] = 8 * 1024 * 1024
    public_url: Annotated[str, Field(pattern=r"^(https?://[^/?#]+)?$")] = ""
    """Where a proxy or tunnel of yours is reached from outside, such as https://daimon.example.org. It passes on `/hooks/` only."""
    origins: Annotated[tuple[Origin, ...], BeforeValidator(as_list)] = ()
    """Where the control room is opened from elsewhere than this machine, exactly as browsers show it, such as http://192.168.1.4:7310 or
    https://daimon.example.org."""
    trusted_proxies: Annotated[tuple[Annotated[str, AfterValidator(_proxy)], ...], BeforeValidator(as_list)] = ()
    """Addresses or networks of proxies that may say for whom they ask (`X-Forwarded-For`, `X-Forwarded-Host`). From all others such a
    request is refused."""

    @model_validator(mode="after")
    def _reached_on_purpose(self) -> Self:
        if not ip_address(self.host).is_loopback and not self.origins:
            raise ValueError(
                f"on the host {self.host} every device of the network can connect; say where the page is opened there, "
                'such as origins = ["http://192.168.1.4:7310"], or leave host at 127.0.0.1'
            )
        return self
