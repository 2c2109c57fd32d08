"""`[channels]`: how people reach the agent."""

from typing import Annotated, Literal

from pydantic import Field

from daimon.config.branch import Branch

Secret = Annotated[str, Field(pattern=r"^(vault|env):.+$")]
"""`vault:NAME`, a secret of the vault, or `env:NAME`, a variable of the environment."""


class Telegram(Branch):
    token: Secret = "vault:telegram"
    """Of the bot, as @BotFather gave it."""
    by: Literal["polling", "webhook"] = "polling"
    """Fetch updates, which works behind any firewall, or have them posted to `public_url`."""
    api: str = "https://api.telegram.org"


class Slack(Branch):
    bot_token: Secret = "vault:slack-bot"
    """Begins with xoxb-."""
    app_token: Secret = "vault:slack-app"
    """Begins with xapp-; for socket mode."""
    api: str = "https://slack.com/api"


class Mail(Branch):
    address: str
    """The agent's own; mail to it is for the agent."""
    imap: str
    """HOST or HOST:PORT."""
    smtp: str
    user: str = ""
    """Left out: the address."""
    password: Secret = "vault:mail"
    security: Literal["tls", "starttls", "none"] = "tls"
    """`tls`: a server named with port 587, 143 or 25 is spoken to by STARTTLS. `none`: for a server on this machine only."""
    inbox: str = "INBOX"
    sent: str = ""
    """The folder that sent mail is kept in and looked for. Left out: the one that the server calls so."""
    keeps_sent: bool = False
    """The server puts what it sends into that folder by itself, as Gmail does."""
    name: str = ""
    """What stands beside the address."""
    per_minute: Annotated[int, Field(ge=1, le=100_000)] = 30
    """So many mails leave at most, a third of it to one place."""
    authserv_id: str = ""
    """Who is believed about senders: the name that your receiving server puts first into the `Authentication-Results` of every mail, such
    as mx.google.com. Left out: nobody, and every sender is `unverified:ADDRESS`."""


class Matrix(Branch):
    homeserver: str
    """Such as https://matrix.org."""
    user: str
    """Such as @agent:matrix.org."""
    token: Secret = "vault:matrix"


class Channels(Branch):
    """How people reach the agent. `daimon channel add` writes these."""

    telegram: Telegram | None = None
    slack: Slack | None = None
    mail: Mail | None = None
    matrix: Matrix | None = None
