"""What setting a channel up asks for, with one line on where an answer is to be had: the same at the terminal and on the page."""

from dataclasses import dataclass

from daimon.keeper import usable_key


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to ask for."""

    question: str
    where: str
    """One line: how to get it."""
    option: str
    """Says it in scripts."""


FIELDS: dict[str, dict[str, Asked]] = {
    "mail": {
        "address": Asked("The agent's own address", "an account of its own, not yours: it reads the whole inbox", "--address"),
        "imap": Asked("IMAP server, HOST or HOST:PORT", "where its mail comes in; the provider's help pages name it", "--imap"),
        "smtp": Asked("SMTP server, HOST or HOST:PORT", "where its mail goes out", "--smtp"),
    },
    "matrix": {
        "homeserver": Asked("Homeserver", "its address, such as https://matrix.org", "--homeserver"),
        "user": Asked("The agent's own account", "not yours; such as @agent:matrix.org, made on that homeserver", "--user"),
    },
}
SECRETS: dict[tuple[str, str], Asked] = {
    ("telegram", "token"): Asked("Token of the bot", "write /newbot to @BotFather in Telegram; it answers with the token", "--token-stdin"),
    ("slack", "bot_token"): Asked(
        "Bot token (xoxb-…)", "api.slack.com/apps, your app, OAuth & Permissions, after Install to Workspace", "--tokens-stdin"
    ),
    ("slack", "app_token"): Asked(
        "App token (xapp-…)", "the same app, Socket Mode: switching it on makes one with connections:write", "--tokens-stdin"
    ),
    ("mail", "password"): Asked(
        "Password", "large providers want an app password: look for that word in the account's security settings", "--password-stdin"
    ),
    ("matrix", "token"): Asked(
        "Access token (Enter: log in with the password instead)", "of the agent's account; a password is used once and not kept",
        "--token-stdin or --password-stdin",
    ),
}  # fmt: skip


HOW = {
    "telegram": "a bot of your own",
    "slack": "an app in your workspace",
    "mail": "a mailbox of its own, by IMAP and SMTP",
    "matrix": "an account on a homeserver",
}
TITLES = {"telegram": "Telegram", "slack": "Slack", "mail": "Mail", "matrix": "Matrix"}


def usable(setting: str, text: str) -> str:
    """A token has no blanks; a password may. Raises BadInput."""
    return text if setting == "password" else usable_key(text)
