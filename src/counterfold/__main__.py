"""The command line, as `python -m counterfold`."""

from counterfold.cli import main

if __name__ == "__main__":
    main()
