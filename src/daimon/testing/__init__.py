"""For our tests and for users' own: a scripted model, a clock by hand, a fake for each port, and a contract suite for each."""
