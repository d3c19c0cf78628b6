"""The files of questions that people have become checked items."""
