"""A mail server for tests: dovecot keeps the mailboxes, aiosmtpd takes mail in; both real, both on loopback."""
