"""The key in the keyring of the session (Secret Service, KWallet, Keychain), through the package `keyring`, if it is installed.

A keyring may wait for a person who unlocks it, or for a bus that nobody listens on: it gets a deadline, in a thread that nobody waits for
after that.
"""

import base64
import importlib
import secrets
import threading
from collections.abc import Callable
from typing import Any

from daimon.abi.errors import Misconfigured
from daimon.vault.seal import KEY_BYTES

SERVICE = "daimon-vault"
DEADLINE_S = 20.0
_INSTALL = "the package `keyring` is not installed; install daimon[keyring], or seal the vault otherwise"


class SystemKeyring:
    name = "keyring"
    work = 0

    def __init__(self, deadline_s: float = DEADLINE_S) -> None:
        self._deadline_s = deadline_s

    def material(self, place: str) -> bytes:
        found = self._ask(lambda keyring: keyring.get_password(SERVICE, place))
        try:
            key = base64.b64decode(found or "", validate=True)
        except (ValueError, TypeError):
            key = b""
        if len(key) != KEY_BYTES:
            raise Misconfigured(f"the keyring has no key {SERVICE} {place}; log in as the user who sealed the vault, or use a backup")
        return key

    def prepare(self) -> str:
        """A new entry each time: the one that opens the vault on disk is left alone until the new vault is there."""
        place = secrets.token_hex(8)
        made = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
        self._ask(lambda keyring: keyring.set_password(SERVICE, place, made))
        self.material(place)  # some keyrings take everything and keep nothing
        return place

    def drop(self, place: str) -> None:
        self._ask(lambda keyring: keyring.delete_password(SERVICE, place))

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        answer: list[Any] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(question(importlib.import_module("keyring")))  # optional: only who chose it has it
            except ImportError:
                failure.append(Misconfigured(_INSTALL))
            except Exception as error:  # noqa: BLE001 - every desktop has its own way to say no
                failure.append(Misconfigured(f"the keyring of the session does not answer: {type(error).__name__}; is it unlocked?"))

        thread = threading.Thread(target=work, name="keyring", daemon=True)
        thread.start()
        thread.join(self._deadline_s)
        if failure:
            raise failure[0]
        if not answer:
            raise Misconfigured(f"the keyring of the session did not answer within {self._deadline_s:g} s; unlock it, and try again")
        return answer[0]
