"""One contract per file, each usable alone."""
