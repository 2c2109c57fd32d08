"""One way to reach people each."""
