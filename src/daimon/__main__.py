"""`python -m daimon`."""

from daimon.cli.main import main

if __name__ == "__main__":
    main()
