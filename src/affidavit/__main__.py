"""`python -m affidavit`: the same as the command."""

from affidavit.commands.entry import main

if __name__ == "__main__":
    main()
