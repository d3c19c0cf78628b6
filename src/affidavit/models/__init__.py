"""Whoever answers a request."""
