"""The command line, as `python -m counterfold`."""

from counterfold.cli import main

main()
