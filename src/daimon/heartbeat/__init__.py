"""What happens by itself: schedules, automations, watchers. It decides when a model is woken, and makes no call itself."""
