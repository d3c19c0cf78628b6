"""How deep laws are tried that cost more than most."""

from hypothesis import settings

few = settings(max_examples=25)
"""For laws that draw thousands of samples in each example."""
