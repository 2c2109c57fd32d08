"""Does a gateway run on this home?

A gateway that is starting holds the home before it listens, one that ends still holds it when it listens no more, and a command that
changes something where nobody runs holds it for a moment. All of them are waited for, so that a command right after `daimon up &`, or two
at once, do not fail. What only reads does not ask here: it reads the journal beside whoever holds the home.
"""

import time

from daimon.abi.errors import HomeBusy
from daimon.gateway.client import Client
from daimon.homes import Home

STARTING_S = 10.0
POLL_S = 0.05


def is_awake(home: Home, patience_s: float = STARTING_S) -> bool:
    """False: nobody holds the home. Raises HomeBusy if somebody does for longer, and no gateway listens."""
    client, until_s = Client(home.socket), time.monotonic() + patience_s
    while not client.is_there():
        holder = home.holder()
        if holder is None:
            return False
        if time.monotonic() > until_s:
            what = f"process {holder} holds {home.path}, and no gateway listens there yet"
            raise HomeBusy(f"{what}; if it is starting, try again in a moment; if not, wait for it to end, or choose another --home")
        time.sleep(POLL_S)
    return True


def client_of(home: Home) -> Client:
    """For what only a gateway can do: one that is starting is waited for."""
    is_awake(home)
    return Client(home.socket)
