"""The machine itself behind ports: clock, chance, names, the home directory."""
