"""Which addresses a name may stand for.

A name that the owner allowed is under the control of whoever runs its DNS. It must not lead to this machine, this house or this cloud's
metadata. Only what is global unicast passes. IPv6 forms that carry an IPv4 address are as good as that address; the two old tunnels, 6to4
and Teredo, are never good, nobody needs them.

It does not know names. What the owner mapped to an address by hand does not come here.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from daimon.net.refusal import Refusal

_V4 = {
    "0.0.0.0/8": "unspecified",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a carrier",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local, where clouds keep their metadata",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "reserved",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "reserved",
    "198.51.100.0/24": "reserved",
    "203.0.113.0/24": "reserved",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_V6 = {
    "2001::/23": "reserved, or a Teredo tunnel",
    "2001:db8::/32": "reserved",
    "2002::/16": "a 6to4 tunnel",
    "3fff::/20": "reserved",
}
_BAD_V4 = [(IPv4Network(network), why) for network, why in _V4.items()]
_BAD_V6 = [(IPv6Network(network), why) for network, why in _V6.items()]
_GLOBAL_V6 = IPv6Network("2000::/3")
_EMBEDDING = [IPv6Network("::ffff:0:0/96"), IPv6Network("::ffff:0:0:0/96"), IPv6Network("64:ff9b::/96")]
"""Mapped, translated, NAT64: the IPv4 address is the last four bytes. `::a.b.c.d` is not global, so never good."""


def check(host: str, addresses: Sequence[str]) -> None:
    """All of them, since a name with one good and one bad address is trying its luck. Raises Refusal."""
    for address in addresses:
        if why := fault(address):
            raise Refusal(403, f"{host} stands for {address}, which is {why}. Only the owner can map a name to it (network.local).")


def fault(address: str) -> str:
    """Why it is not good; empty: it is."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "no plain address"
    return _fault_v4(parsed) if isinstance(parsed, IPv4Address) else _fault_v6(parsed)


def _fault_v4(address: IPv4Address) -> str:
    return next((why for network, why in _BAD_V4 if address in network), "")


def _fault_v6(address: IPv6Address) -> str:
    if address.scope_id is not None:
        return "bound to one link"
    if any(address in network for network in _EMBEDDING):
        return _fault_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address not in _GLOBAL_V6:
        return "loopback" if address.is_loopback else "private, link-local, multicast or reserved"
    return next((why for network, why in _BAD_V6 if address in network), "")
