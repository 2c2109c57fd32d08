"""The roles that come with Daimon, one file each."""
