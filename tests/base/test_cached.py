"""cached_property: computed once, and by several threads at the same time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

from counterfold.base.cached import cached_property, copy_with


class Counting:
    def __init__(self, meet=lambda: None):
        self.meet, self.computed = meet, 0

    @cached_property
    def double(self):
        """What is computed."""
        self.meet()
        self.computed += 1
        return 2 * self.computed


def test_it_is_computed_once_for_each_object():
    one, other = Counting(), Counting()
    assert [one.double, one.double, other.double] == [2, 2, 2]
    assert (one.computed, other.computed) == (1, 1)
    assert Counting.double.__doc__ == "What is computed."


def test_threads_compute_those_of_several_objects_at_the_same_time():
    several = Barrier(2)
    objects = [Counting(lambda: several.wait(timeout=30)) for _ in range(2)]
    with ThreadPoolExecutor(2) as executor:
        assert list(executor.map(lambda one: one.double, objects)) == [2, 2]


@dataclass(frozen=True, eq=False)
class Frozen:
    number: int
    other: str = "as it is"

    @cached_property
    def double(self):
        return 2 * self.number


def test_a_copy_has_the_fields_and_computes_anew():
    one = Frozen(3)
    assert one.double == 6
    copy = copy_with(one, number=4)
    assert (type(copy), copy.number, copy.other, copy.double) == (Frozen, 4, "as it is", 8)
    assert (one.number, one.double) == (3, 6)
