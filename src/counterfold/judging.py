"""Contest: from the sums of a large log to the answer for one target."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterfold.diagnostics import SOME_UNSUPPORTED, Diagnostics, judged, mean_test
from counterfold.doubts import compared, estimated, moves, opposed, rechosen, weighed
from counterfold.estimates import Estimate, interval_of
from counterfold.estimators._logged import Logged
from counterfold.estimators.base import Estimator
from counterfold.estimators.snips import SNIPS
from counterfold.evaluation import Evaluation, tabulated
from counterfold.models._streamed import Streamed
from counterfold.question import Question
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.settling import warned
from counterfold.sums import Sums
from counterfold.survey import Survey
from counterfold.tally import Tally

ENOUGH = 1 << 13
"""How many rows of the sample tell what the noise of fitting a model does."""


@dataclass(frozen=True, eq=False)
class Contest:
    """The candidates for one target, and who judges them."""

    question: Question
    whole: Rows
    judge: Selector
    estimators: Mapping[str, Estimator]
    left_out: dict[str, str]
    model: Streamed | None

    @property
    def summed(self) -> list[Estimator]:
        """Return everything that must be summed: candidates, what judges them, a second opinion, and the log."""
        return list(dict.fromkeys([*self.estimators.values(), *self.judge.witnesses, SNIPS(), Logged()]))

    def judged(self, name: str, tally: Tally, survey: Survey | None) -> Evaluation:
        """Return the answer for a target."""
        sums = tally.sums[name].occupied
        diagnostics = warned(self.diagnosed(name, tally, survey), name)
        contestants = list(self.estimators.values())
        rng = np.random.default_rng(self.question.seed)
        selection = self.judge.summed_selection(sums, contestants, rng)
        winner = selection.answer(contestants)
        chosen = list(self.estimators)[selection.chosen] if winner in contestants else winner.name
        answer = sums.estimate(chosen, winner)
        if selection.stderr is None:
            answer = rechosen(self.with_model_noise(answer, winner), self.judge, sums, contestants, rng)
        else:
            answer = replace(answer, refit_stderr=selection.stderr)
        if diagnostics.effective_rows and (diagnostics.unsupported_mass or 0.0) < SOME_UNSUPPORTED:
            diagnostics = opposed(diagnostics, answer, sums.estimate("SNIPS", SNIPS()))
        diagnostics = self.questioned(diagnostics, sums, answer, winner)
        answer = weighed(answer, sums.weights / sums.sizes, diagnostics.unsupported_mass)
        table = tabulated(self.estimators, selection, sums.estimate)
        return Evaluation(
            estimate=answer,
            level=self.question.level,
            selected=chosen,
            estimator=winner,
            selector=self.judge,
            table=table,
            left_out=self.left_out,
            diagnostics=diagnostics,
            seed=int(self.question.seed),
            logged=sums.estimate("log", Logged()),
            method=interval_of(self.question.interval, "interval"),
        )

    def questioned(self, found: Diagnostics, sums: Sums, answer: Estimate, winner: Estimator) -> Diagnostics:
        """Return the diagnostics with what speaks against the reward model, by its predictions of rows it did not see.

        The sample tells how far an estimate moves and how much its error grows.
        """
        if self.model is None or not self.model.elsewhere:
            return found
        outside = replace(self.whole, model=Streamed(self.model.elsewhere), refit=None)
        validator = getattr(self.judge, "validator", None)
        for what, one in {"the answer": winner, f"the validator {validator and validator.name}": validator}.items():
            if one is None or not one.uses("model") or (one == winner and what != "the answer"):
                continue
            before, after = (estimated(one.name, one, rows) for rows in (self.whole, outside))
            inside = replace(answer, refit_stderr=0.0) if one == winner else sums.estimate(one.name, one)
            spread = after.stderr / before.stderr if before.stderr else 1.0
            shifted = inside.value + after.value - before.value + spread * (inside.contributions - inside.value)
            elsewhere = replace(inside, contributions=shifted)
            if one == winner:
                found = replace(found, model_shift=moves(inside, elsewhere)[0])
            found = compared(found, what, inside, elsewhere)
        return found

    def with_model_noise(self, answer: Estimate, estimator: Estimator) -> Estimate:
        r"""Return the answer with an error that includes the noise of fitting the reward model.

        Models fitted without one of m parts of the rows say $V_{-b}$ on the sample; their jackknife variance
        $\frac{m-1}{m} \sum_b (V_{-b} - \bar V)^2$ adds to that of the contributions, which takes the model as given.
        """
        if self.model is None or not self.model.without or not estimator.uses("model"):
            return answer
        some = self.whole.take(slice(None, None, -(-len(self.whole) // ENOUGH)))  # from one end of the log to the other
        values = np.array([estimator.value(replace(some, model=Streamed((one,)))) for one in self.model.without])
        noise = np.square(values - values.mean()).sum() * (len(values) - 1) / len(values)
        return replace(answer, refit_stderr=float(np.hypot(answer.stderr, np.sqrt(noise))))

    def diagnosed(self, name: str, tally: Tally, survey: Survey | None) -> Diagnostics:
        """Return what the weights of a target say about trust."""
        sums, rows = tally.sums[name].occupied, tally.rewards.count
        weights, mean = tally.weights[name], Estimate("mean weight", sums.weights / sums.sizes, sizes=sums.sizes)
        total = float(sums.weights.sum())
        mass = None if weights.unsupported_mass is None else weights.unsupported_mass / rows
        return judged(
            Diagnostics(
                rows=rows,
                effective_rows=total**2 / weights.squares if total else 0.0,
                largest_weight=weights.largest,
                largest_share=weights.largest / total if total else 1.0,
                mean_weight=total / rows,
                mean_weight_p=mean_test(mean, 1 - (mass or 0.0)),
                unsupported_rows=weights.unsupported_rows,
                unsupported_mass=mass,
                bandwidth=None,
                reward_low=tally.rewards.low,
                reward_high=tally.rewards.high,
                model_shift=None,
                disagreement=None,
                groups=None if survey is None else survey.group_count,
                verdict="good",
                reasons=(),
            )
        )
