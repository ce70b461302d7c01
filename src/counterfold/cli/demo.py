"""The command `demo`: an answer on embedded data, beside the truth."""

from typing import TYPE_CHECKING

from counterfold.base.records import as_dictionary
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import Everything, Json, Seed, Threads, take_options
from counterfold.cli.printing import print_answer

if TYPE_CHECKING:
    from counterfold.cli.records import DemoRecord

STORY = (
    "Handwritten digits as a bandit: an old policy guessed the digit in each image, nearly at random, and earned 1 "
    "when it was right. What would a sharper policy have earned? The log alone must tell; the truth is known here."
)


@take_options
def demo(
    *,
    as_json: Json = False,
    seed: Seed = 0,
    everything: Everything = False,
    threads: Threads = None,
    report: ReportOptions,
) -> None:
    """Evaluate a policy on embedded data whose truth is known."""
    from counterfold.evaluation import Comparison, evaluate
    from counterfold.simulation import draw_digits

    problem = draw_digits(seed)
    result = evaluate(problem.log, problem.target, seed=seed, threads=threads)
    record: DemoRecord = {"truth": problem.truth, **result.to_record()}
    answer = as_dictionary(record)
    report.write_answers({"": Comparison({"new policy": result})}, lambda: answer, truth=problem.truth)
    if as_json:
        print_answer(answer)
        return
    from counterfold.log.contents import Contents
    from counterfold.report import console, details, text

    shown = text.evaluation("new policy", result, everything=everything, truth=problem.truth)
    console.show(STORY, *shown, details.contents({"reward": Contents.of(problem.log)}))
