"""A contract over rows, columns and files of any size."""
