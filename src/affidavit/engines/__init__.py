"""A contract over files of any size: in this process, or spread over many."""
