"""The pager: from what the turn knows to what the model sees."""
