"""Sets a running home up: models, channels, secrets, policies, budgets and backups, as the page asks for them."""
