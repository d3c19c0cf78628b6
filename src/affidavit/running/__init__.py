"""Ask, count, seal, verify."""
