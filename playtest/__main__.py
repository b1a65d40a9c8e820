"""`python -m playtest` is the command `playtest`."""

from playtest.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
