"""Hostile skills and servers, by how they try: words, scripts, parcels, connectors."""
