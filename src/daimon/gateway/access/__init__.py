"""Who comes in: names of this machine, browsers and phones, the ways they sign in, and what is written down of it."""
