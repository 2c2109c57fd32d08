"""Where events come in and answers go out: the inbox, the outbox, the API."""
