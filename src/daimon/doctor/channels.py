"""Channels: is the secret of each there, and does its service let us in? One question to each, all at once, and not for long."""

import asyncio
import os

from daimon import config, keeper, lines
from daimon.abi.errors import DaimonError, LockedOut, Misconfigured
from daimon.doctor.finding import Finding
from daimon.machine.home import Home

LOOK_S = 15.0


async def look(home: Home, settings: config.Settings) -> tuple[Finding, ...]:
    wanted = lines.all_wanted(settings)
    if not wanted:
        return ()
    vault = keeper.found(home, os.environ)
    try:
        return tuple(await asyncio.gather(*(_look(each, vault, settings.gateway.public_url) for each in wanted.values())))
    finally:
        vault.close()


async def _look(wanted: lines.Wanted, vault: keeper.Vault, public_url: str) -> Finding:
    name = lines.name_of(wanted)
    try:
        if missing := lines.lacking(wanted, vault, os.environ, public_url):
            return Finding("warning", "channels", "; ".join(missing), f"`daimon channel add {name}` sets it up anew")
        async with asyncio.timeout(LOOK_S):
            found = await lines.checked(wanted, lines.revealing(wanted, vault, os.environ), public_url)
    except LockedOut as refusal:
        return Finding("error", "channels", f"{name} does not let us in: {refusal}", f"`daimon channel add {name}` sets it up anew")
    except Misconfigured as locked:
        return Finding("note", "channels", f"{name} was not tried: {locked}")
    except (DaimonError, TimeoutError) as failure:
        why = str(failure) or "no answer in time"
        return Finding("warning", "channels", f"{name} was not reached: {why}", "look at the network, and at the address in the settings")
    if found.warnings:
        return Finding("note", "channels", f"{name} lets us in as {found.who}; {'; '.join(found.warnings)}")
    return Finding("ok", "channels", f"{name} lets us in as {found.who}")
