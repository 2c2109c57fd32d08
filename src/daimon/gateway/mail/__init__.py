"""Mail: the two protocols, whom a mail is from, what it says, and how one is made. `channels/mail.py` puts them together."""
