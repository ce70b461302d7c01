"""TreeNode: a policy's tree as people read it; and what arrays are a tree."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Bools, Ints


@dataclass(frozen=True)
class TreeNode:
    """A condition with one node where it holds (`yes`) and one where it does not, or, without these, an action to take.

    `otherwise` is the opposite of the condition, in words. `share` is the share of the rows it was learnt from that
    come here. As a text, it is a line for each node.

    >>> print(TreeNode("age <= 30", 1.0, TreeNode("b", 0.4), TreeNode("a", 0.6)))
    if age <= 30:
      take b
    else:
      take a
    """

    words: str
    share: float
    yes: "TreeNode | None" = None
    no: "TreeNode | None" = None
    otherwise: str = ""

    def __str__(self) -> str:
        return "\n".join(self.list_lines())

    def list_lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        if self.yes is None or self.no is None:
            yield f"take {self.words}"
            return
        yield f"if {self.words}:"
        yield from (f"  {line}" for line in self.yes.list_lines())
        yield "else:"
        yield from (f"  {line}" for line in self.no.list_lines())

    def join(self, other: "TreeNode") -> "TreeNode":
        """Return both of two nodes that decide the same as one."""
        if self.yes is None or self.no is None or other.yes is None or other.no is None:
            return replace(self, share=self.share + other.share)
        both = self.yes.join(other.yes), self.no.join(other.no)
        return TreeNode(self.words, self.share + other.share, *both, self.otherwise)

    def list_rules(self, *before: str) -> Iterator[tuple[tuple[str, ...], "TreeNode"]]:
        """Yield each leaf with the conditions that hold there, from the top."""
        if self.yes is None or self.no is None:
            yield before, self
            return
        yield from self.yes.list_rules(*before, self.words)
        yield from self.no.list_rules(*before, self.otherwise)


def is_tree(is_inner: Bools, left: Ints, right: Ints) -> bool:
    """Say whether the first node is the root of a tree: others come after the one inner node that leads to them.

    >>> inner, none = np.array([True, False, False]), np.full(3, -1)
    >>> is_tree(inner, np.array([1, -1, -1]), np.array([2, -1, -1])), is_tree(inner, none, none)
    (True, False)
    """
    parents, nodes = np.flatnonzero(is_inner), np.concatenate([left[is_inner], right[is_inner]])
    leads_on = (nodes > np.tile(parents, 2)).all() and (nodes < len(is_inner)).all()
    return bool(len(is_inner) and leads_on and len(np.unique(nodes)) == len(nodes))
