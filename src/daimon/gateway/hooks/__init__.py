"""What services post to `/hooks/NAME`. The signature lets it in, and nothing else does."""
