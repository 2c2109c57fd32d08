"""The keyring: secrets sealed at rest, scoped, and kept out of texts."""
