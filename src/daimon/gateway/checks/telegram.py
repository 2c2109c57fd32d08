"""Telegram: whose token it is, and whether somebody else has updates of this bot posted to them."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.gateway.channels.telegram_api import BotApi
from daimon.gateway.checks.found import Checked

ANSWER_S = 15.0


async def check(api: str, token: Callable[[], str], posted_to: str) -> Checked:
    """`posted_to`: where Telegram posts for us; empty: updates are fetched. Raises LockedOut, NotSent, ConnectionError."""
    async with BotApi(api, token, ANSWER_S).line() as line:
        me, hook = await line.do("getMe", {}), await line.do("getWebhookInfo", {})
    if not isinstance(me, dict) or not isinstance(name := me.get("username"), str):
        raise BadInput(f"{api} did not say which bot this is; is it Telegram's Bot API?")
    warnings = tuple(_warnings(me, _url(hook), posted_to))
    return Checked(f"@{name}", _said(me), warnings, link=f"https://t.me/{name}?start=", pair_at=f"the chat with @{name}")


def _said(me: Mapping[str, JsonValue]) -> tuple[str, ...]:
    return (f"shown to people as {me['first_name']}",) if me.get("first_name") else ()


def _warnings(me: Mapping[str, JsonValue], now_at: str, posted_to: str) -> Iterator[str]:
    if now_at and now_at != posted_to:
        yield "updates of this bot are posted to another address now; that ends when Daimon starts to listen, since a bot has one listener"
    if me.get("can_read_all_group_messages") is True:
        yield "privacy mode is off: in groups the bot is shown everything; /setprivacy at @BotFather turns it on"
    if me.get("can_join_groups") is False:
        yield "the bot cannot be added to groups; /setjoingroups at @BotFather allows it"


def _url(hook: JsonValue) -> str:
    match hook:
        case {"url": str(url)}:
            return url
        case _:
            return ""
