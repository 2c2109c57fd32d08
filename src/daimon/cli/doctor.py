"""What `daimon doctor` does."""
