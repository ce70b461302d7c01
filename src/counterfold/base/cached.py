"""What is computed once: cached_property as it is since Python 3.12, and copies that know nothing of it."""

import functools
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

Object = TypeVar("Object")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (as the one that it stands for)
        """A property that is computed once; several threads may compute those of several objects at the same time.

        That of Python 3.11 lets one thread at a time compute it, of all objects of a class, so that threads wait for
        each other where they fit and predict. Two threads that ask the same object at once may both compute it here.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return what was computed; from then on the object has it itself."""
            if instance is None:
                return self
            found = instance.__dict__[self.attrname] = self.func(instance)
            return found


def copy_with(one: Object, **changes: Any) -> Object:
    """Return a copy of a frozen dataclass with some fields changed, and nothing that was computed from them.

    It is `dataclasses.replace` in a tenth of the time: nothing is checked, as there must be no `__post_init__`.
    """
    kind: Any = type(one)
    copy: Object = object.__new__(kind)
    known = vars(one)
    vars(copy).update({name: known[name] for name in list_fields(kind)}, **changes)
    return copy


@functools.cache
def list_fields(kind: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields."""
    return tuple(one.name for one in fields(kind))
