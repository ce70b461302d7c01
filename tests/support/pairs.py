"""Which cases of a test with many parameters CI runs: so many that every pair of values of two parameters is in one."""

from collections import defaultdict
from itertools import combinations

import pytest

MARK = "pairs: has many parameters; `make test` runs every pair of values of two of them, `make test-all` all cases"


def list_pairs(item):
    """Return the pairs of values of a case, each with the name of its parameter; any value has an identity."""
    return {*combinations(sorted((name, id(value)) for name, value in item.callspec.params.items()), 2)}


def leave_out_cases(items):
    """Mark those cases of tests with the mark `pairs` as slow that other cases make up for."""
    tests = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("pairs"):
            tests[item.nodeid.partition("[")[0]][item] = list_pairs(item)
    for cases in tests.values():
        lacking = set().union(*cases.values())
        while lacking:
            best = max(cases, key=lambda item: len(cases[item] & lacking))
            lacking -= cases.pop(best)
        for item in cases:
            item.add_marker(pytest.mark.slow)
