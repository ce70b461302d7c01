"""A policy that was learnt, for the terminal: whether it beats the log comes first."""

from rich.styled import Styled
from rich.table import Table

from counterfold.base import messages
from counterfold.learning.result import Learned
from counterfold.report import details, text
from counterfold.report.policy_parts import list_lines, write_gain, write_taken
from counterfold.report.tables import Lines, add_title, new_grid

LINES = 20
"""How many lines of a policy are shown at most; the file has it all."""


def learned(found: Learned, path: str, attempt: str | None, *, everything: bool = False) -> list[text.Block]:
    """Return all that is shown of a policy: the answer, what it competed with, how it decides and its evaluation."""
    grid = summarise(found, path, attempt)
    names = "contender", "difference", "interval", "verdict", "chosen"
    lines = []
    for line in sorted(found.table, key=lambda one: -one.low):
        folds = f"{line.folds} fold{'s' * (line.folds > 1)}" if line.folds else ""
        folds = "yes" if found.sample is not None and line.chosen else folds
        lines.append((messages.show(line.contender), *write_gain(line), line.verdict, folds))
    told = "corrected for choosing" if found.sample is None else "by other rows"
    note = f"each interval is as if there were no other contender; the evaluation below is {told}"
    blocks: list[text.Block] = [grid, add_title("contenders", Lines(names, lines, texts=2), Styled(note, "dim"))]
    if found.left_out:
        left_out = [f"{messages.show(name)} {reason}" for name, reason in found.left_out.items()]
        blocks.append(Styled(f"left out: {'; '.join(left_out)}", "dim"))
    blocks.append(describe_policy(found))
    title = "the learnt policy" if found.beats_log else "the best attempt"
    contents = details.contents({"": found.attempt.contents})
    return [*blocks, *text.evaluation(title, found.attempt, everything=everything), contents]


def summarise(found: Learned, path: str, attempt: str | None) -> Table:
    """Return the answer, what to do now, where the policy is and what it keeps to."""
    grid = new_grid()
    grid.add_row("answer", Styled(found.sentence, "bold"))
    grid.add_row("next step", Styled(found.next_step.sentence, "bold"))
    kept = f"{messages.show(path)} was not written, because nothing beats the log: keep what you have"
    grid.add_row("policy", f"written to {messages.show(path)}" if found.beats_log else kept)
    if attempt is not None:
        grid.add_row("best attempt", f"written to {messages.show(attempt)}")
    elif found.next_step.action == "A/B test" and not found.beats_log:
        grid.add_row("best attempt", "not kept: `--attempt FILE` writes it, for an A/B test")
    if found.sample is not None:
        grid.add_row("learnt from", f"{found.sample:,} rows; all others say what it is worth")
    if found.policy.explore:
        grid.add_row(
            "explores", f"{found.policy.explore:.3g} of the decisions, so that its own log can judge the next policy"
        )
    for one in found.limits:
        grid.add_row("limit", f"{one.limit}: {write_taken(one)}")
    return grid


def describe_policy(found: Learned) -> text.Block:
    """Return how the policy decides."""
    policy = found.policy if found.beats_log else found.attempted
    return add_title(
        "how it decides" if found.beats_log else "how the best attempt decides", *list_lines(policy, LINES)
    )
