"""Bytes kept so that any change shows."""
