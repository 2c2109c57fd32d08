"""Which site a request means, and what it asks of it. There is one answer, or the request is refused."""

import re

from daimon.net.head import Request
from daimon.net.refusal import Malformed, Refusal
from daimon.net.site import Site, parse

_ABSOLUTE = re.compile(r"(?i:http)://([^/?#]+)([/?][^#]*)?")
_PLAIN, _TLS = 80, 443


def meant(request: Request, opened: Site | None) -> tuple[Site, str]:
    """`opened` is the site of the tunnel that it came through. Raises Malformed, and Refusal where Host says something else."""
    if opened is not None:
        if not request.target.startswith("/") or "#" in request.target:
            raise Malformed("inside of a tunnel a request must begin with its path")
        _check_host(request, opened, _TLS)
        return opened, request.target
    found = _ABSOLUTE.fullmatch(request.target)
    if found is None:
        raise Malformed("this is a proxy: it takes http://host/path, and CONNECT host:port for https")
    site = parse(found[1], _PLAIN)
    _check_host(request, site, _PLAIN)
    target = found[2] or "/"
    return site, target if target.startswith("/") else f"/{target}"


def meant_by_connect(request: Request) -> Site:
    """Raises Malformed. Its Host header says nothing that the target does not, and clients differ in what they put there."""
    site = parse(request.target, 0)
    if not site.port:
        raise Malformed("CONNECT must name a port")
    return site


def _check_host(request: Request, site: Site, usual: int) -> None:
    stated = request.headers.one(b"host")
    if stated is not None and parse(stated.decode("latin-1"), usual) != site:
        raise Refusal(421, f"the Host header names another site than {site.host}, which this connection is for")
