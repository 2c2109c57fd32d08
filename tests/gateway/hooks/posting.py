"""Somebody who posts to a running Daimon as a service would."""

import json
import time
from dataclasses import dataclass
from typing import Any

from tests.gateway.live import Answer, Live

from daimon import keeper
from daimon.abi.codec import encode
from daimon.abi.hook import Hook
from daimon.gateway.hooks import signature


@dataclass(frozen=True, slots=True)
class Service:
    daimon: Live
    hook: Hook
    secret: str

    def signed(self, body: bytes, now_s: int | None = None, **more: str) -> dict[str, str]:
        given = signature.sign(self.hook, self.secret, body, int(time.time()) if now_s is None else now_s)
        return {"content-type": "application/json", **given, **{name.replace("_", "-"): value for name, value in more.items()}}

    def post(self, data: Any, **more: str) -> Answer:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        return self.send(body, self.signed(body, **more))

    def send(self, body: bytes, headers: dict[str, str]) -> Answer:
        return self.daimon.call_as("POST", f"/hooks/{self.hook.name}", body, headers)

    def deliveries(self) -> Any:
        return self.daimon.get(f"/v1/hooks/{self.hook.name}/deliveries?limit=1000")

    def turns(self) -> Any:
        return self.daimon.get(f"/v1/turns?conversation=hooks/{self.hook.name}")


def service(daimon: Live, hook: Hook) -> Service:
    answer = daimon.call("PUT", f"/v1/hooks/{hook.name}", encode(Hook, hook))
    assert answer.status == 200, answer.body
    return Service(daimon, hook, secret_of(daimon, hook.secret))


def secret_of(daimon: Live, name: str) -> str:
    vault = keeper.opened(daimon.home, {})
    try:
        (value,) = vault.checking((name,), "test")
        return value
    finally:
        vault.close()
