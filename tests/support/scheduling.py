"""Which tests of a parallel run go to the same process, one after another.

The mark `xdist_group` would say so beside the tests, but pytest-xdist 3.8 overlooks it under pytest 9.2.
"""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "tests/engines/spark/": "spark",  # one Java process at a time
    "tests/io/sources/test_object_store.py": "object store",  # one server
    "tests/io/sources/test_databases.py": "databases",  # one server
    "tests/lab/selection/test_selection.py": "selection",  # they share a run
    "tests/engines/test_engines.py::test_memory": "memory",
    "tests/lab/commands/test_synth.py::test_memory": "memory",
}
"""How the ids of tests begin, and the group that these belong to."""


class InGroups(LoadScopeScheduling):
    """Every group in one process, the largest groups first; the cases of one test are a group, too."""

    def _split_scope(self, nodeid):
        test = nodeid.partition("[")[0]
        return next((group for start, group in TOGETHER.items() if test.startswith(start)), test)
