"""`python -m affidavit`: the same as the command."""

try:
    from affidavit.commands.entry import main
except KeyboardInterrupt:
    raise SystemExit(130) from None  # the name of that code is not loaded yet

if __name__ == "__main__":
    main()
