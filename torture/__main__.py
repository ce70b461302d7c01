"""Attack counterfold: `python -m torture`, or a part of it by `--only NAME`; `--help` lists the options."""

import argparse
import sys
from pathlib import Path

from torture import report
from torture.kinds import Limits, find_kinds
from torture.outcomes import FAILURES


def main():
    """Run the kinds of attack that are asked for, show how they ended, and fail if any ended badly."""
    kinds = find_kinds()
    options = parse(kinds)
    limits = Limits(options.quick, options.minutes, tuple(options.only))
    chosen = {name: kind for name, kind in kinds.items() if is_wanted(name, options, kinds)}
    found = {}
    for name, kind in chosen.items():
        found[name] = []
        kept = Limits(limits.is_quick, limits.minutes, () if name in options.only else limits.only)
        for result in kind.attack(kept):
            found[name].append(result)
            if sys.stderr.isatty():
                print(f"\r{name}: {len(found[name])} tried", end="", file=sys.stderr, flush=True)
        print(f"\r{name}: {len(found[name])} tried", file=sys.stderr, flush=True)
    report.show(found)
    if options.page:
        before = options.page.read_text() if options.page.exists() else ""
        options.page.write_text(report.write_page(found, kinds, before))
    bad = any(result.outcome in FAILURES for results in found.values() for result in results)
    tried = any(found.values())
    sys.exit(1 if bad or not tried else 0)


def parse(kinds):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser("python -m torture", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="an entry, the start of its name, or a kind"
    )
    parser.add_argument(
        "--skip", action="append", default=[], choices=list(kinds), help="a kind of attack to leave out"
    )
    parser.add_argument("--quick", action="store_true", help="a representative part of each kind")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="minutes of fuzzing per reader (1)")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write the page of the docs; kinds that were not run keep what it said of them",
    )
    return parser.parse_args()


def is_wanted(name, options, kinds):
    """Say whether a kind is asked for; names that are no kind's are of entries, which its results begin with."""
    if name in options.skip:
        return False
    if not options.only or name in options.only:
        return True
    others = [one for one in options.only if one not in kinds]
    prefixes = {one.partition("/")[0] for one in others}
    own = prefixes & (set(kinds) - {"catalogue"})
    return name in own or (name == "catalogue" and bool(prefixes - own))


if __name__ == "__main__":
    main()
