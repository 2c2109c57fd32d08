"""The control room: the page where the owner lives with the agent, and the views of the journal that it reads."""
