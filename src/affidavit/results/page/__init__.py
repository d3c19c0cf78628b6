"""Tables become one HTML page."""
