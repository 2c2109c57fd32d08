"""Google's generateContent, on the wire."""
