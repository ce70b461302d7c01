"""What is shown of policies that were learnt, wherever that is: places of a tree's nodes, columns and contenders."""

from collections.abc import Sequence
from typing import NamedTuple

from counterfold.learning.limits import LimitLine
from counterfold.learning.result import ContenderLine, Learned
from counterfold.policies.learned.policy import Policy
from counterfold.policies.learned.trees import TreeNode
from counterfold.report.numbers import format_signed

TOLD = "the best, corrected"
"""What the difference that may be told to others is called beside those of the contenders."""


MOST_LEAVES = 40
"""A tree with more leaves is not drawn: nobody could read it."""


class Place(NamedTuple):
    """Where a node of a tree is drawn: leaves are lines below each other, and a node is between those that follow.

    `above` is the line of the node before it, and `answer` says how it is reached from there; both are nothing at the
    top.
    """

    node: TreeNode
    depth: int
    line: float
    above: float | None
    answer: str

    @property
    def is_leaf(self) -> bool:
        """Say whether an action is taken here."""
        return self.node.yes is None


def lay_out(root: TreeNode) -> list[Place]:
    """Return the places of all nodes of a tree, each after the one before it.

    >>> tree = TreeNode("age <= 30", 1.0, TreeNode("b", 0.4), TreeNode("a", 0.6))
    >>> [(one.node.words, one.depth, one.line, one.answer) for one in lay_out(tree)]
    [('age <= 30', 0, 0.5, ''), ('b', 1, 0.0, 'yes'), ('a', 1, 1.0, 'no')]
    """
    return _place_nodes(root, 0, 0)[0]


def _place_nodes(node: TreeNode, depth: int, first: int) -> tuple[list[Place], int]:
    """Return the places of a node and of all that follow, and how many are leaves; `first` is the line to start at."""
    if node.yes is None or node.no is None:
        return [Place(node, depth, float(first), None, "")], 1
    yes, above = _place_nodes(node.yes, depth + 1, first)
    no, below = _place_nodes(node.no, depth + 1, first + above)
    line = (yes[0].line + no[0].line) / 2
    heads = [side[0]._replace(above=line, answer=answer) for side, answer in ((yes, "yes"), (no, "no"))]
    return [Place(node, depth, line, None, ""), heads[0], *yes[1:], heads[1], *no[1:]], above + below


def explain_no_tree(policy: Policy) -> str | None:
    """Return why a policy cannot be drawn as a tree, if so."""
    if policy.tree is None:
        return "the policy is no tree; `policy-tree` learns one"
    leaves = sum(1 for _ in policy.tree.list_rules())
    return (
        f"the tree has {leaves} leaves, which nobody could read; `describe()` is its text"
        if leaves > MOST_LEAVES
        else None
    )


def list_lines(policy: Policy, most: int) -> list[str]:
    """Return the lines of a policy as text, at most so many."""
    lines = policy.describe().splitlines()
    return lines if len(lines) <= most else [*lines[:most], f"... and {len(lines) - most} lines more"]


def name_actions(places: Sequence[Place]) -> list[str]:
    """Return the actions that a tree takes, each once."""
    return list(dict.fromkeys(one.node.words for one in places if one.is_leaf))


def find_policy(result: Learned | Policy) -> Policy:
    """Return the policy that was learnt."""
    return result.policy if isinstance(result, Learned) else result


def rank_columns(policy: Policy) -> list[tuple[str, float]]:
    """Return how much each column of the users matters, those that matter most first, without those that do not."""
    shares: dict[str, float] = {}
    for source, share in zip(policy.features.sources, policy.importance.values(), strict=True):
        shares[source] = shares.get(source, 0.0) + share
    return sorted(((name, share) for name, share in shares.items() if share > 0), key=lambda one: -one[1])


def write_gain(line: ContenderLine) -> tuple[str, str]:
    """Return the difference of a contender to the log and its interval, withheld if the log cannot answer for it."""
    if line.verdict == "not answerable":
        return "withheld", ""
    error = (line.high - line.low) / 4
    return format_signed(line.gain, error), f"{format_signed(line.low, error)} to {format_signed(line.high, error)}"


def rank_contenders(found: Learned) -> list[ContenderLine]:
    """Return the contenders that the log can answer for, the one with the largest lower bound first."""
    known = [line for line in found.table if line.verdict != "not answerable"]
    return sorted(known, key=lambda line: -line.low)


def write_taken(line: LimitLine) -> str:
    """Return what is taken of a limit."""
    return f"{line.expected:.3g} by the policy, {line.out_of_fold:.3g} out of fold, {line.logged:.3g} in the log"
