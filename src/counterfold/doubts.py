"""Second opinions on an answer: with the model fitted anew or another choice, out of sample, and by hardly any bias."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterfold import kernels
from counterfold.arrays import Floats, Ints, scattered
from counterfold.diagnostics import SOME_UNSUPPORTED, Diagnostics, doubted
from counterfold.estimates import Estimate
from counterfold.estimators.base import Estimator
from counterfold.estimators.kernel_dr import KernelDR
from counterfold.estimators.kernel_ips import KernelIPS
from counterfold.estimators.snips import SNIPS
from counterfold.models.base import TrainedModel
from counterfold.models.cross_fitted import CrossFitted
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.sums import Sums

BLOCKS = 20
REPLICATES = 40
LARGE_SHIFT, LARGE_STRETCH = 1.0, 1.5
LARGE_DISAGREEMENT = 3.0
ROUNDING = 1e-9


def estimated(name: str, estimator: Estimator, rows: Rows) -> Estimate:
    """Return what one estimator says on these rows, its error as if the reward model were fixed."""
    return Estimate(name, estimator.contributions(rows), rows.groups)


def weighed(answer: Estimate, weights: Floats, unsupported_mass: float | None) -> Estimate:
    """Return the answer with weights that are known to be 1 on average, which they are where support is full."""
    return replace(answer, weights=weights) if unsupported_mass == 0 else answer


def refitted(answer: Estimate, estimator: Estimator, rows: Rows, pool: Pool) -> Estimate:
    r"""Return the answer with an error that includes the noise of fitting the reward model.

    A jackknife: leave out each of m blocks of rows (or groups) in turn, fit anew on the rest, and take
    $\hat\sigma^2 = \frac{m - 1}{m} \sum_b (\hat V_{-b} - \bar V)^2$. The model's settings stay as all rows chose them:
    the jackknife is for what moves smoothly, and a choice among few values jumps.
    """
    if rows.model is None or not rows.model.learns or not estimator.uses("model"):
        return answer
    rows = replace(rows, model=rows.model.tuned(rows.examples))
    block = blocks(rows.examples.units)
    parts = [np.flatnonzero(block != number) for number in range(block.max() + 1)]
    values = np.array(pool.map(lambda kept: estimator.value(rows.take(kept)), parts))
    spread = np.square(values - values.mean()).sum() * (len(parts) - 1) / len(parts)
    return replace(answer, refit_stderr=float(np.sqrt(spread)))


def rechosen(
    answer: Estimate, judge: Selector, sums: Sums, candidates: Sequence[Estimator], rng: np.random.Generator
) -> Estimate:
    """Return the answer with an error that includes the noise of choosing it.

    Choosing is done anew on bootstrap samples of the units, and the spread of what is answered then is the error; the
    larger of both counts. Samples of a small log that hold too few different units to choose by are left out.
    """
    if len(candidates) < 2:
        return answer
    found = []
    for drawn in rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=REPLICATES):
        sample = sums.weighted(drawn)
        if len(sample) >= judge.least_units:
            shares = judge.summed_selection(sample, candidates, rng).shares
            found.append(shares @ sample.overall(candidates))
    noise = float(np.std(found, ddof=1)) if len(found) > 1 else 0.0
    return replace(answer, refit_stderr=max(answer.refit_stderr, noise))


def blocks(units: Ints) -> Ints:
    """Return a block for each row, of equally many units each, by a fixed hash."""
    unique, where = np.unique(units, return_inverse=True)
    block = np.empty(len(unique), dtype=np.intp)
    block[np.argsort(scattered(unique))] = np.arange(len(unique)) % BLOCKS
    return block[where]


def questioned(
    found: Diagnostics, answer: Estimate, estimator: Estimator, validator: Estimator | None, rows: Rows
) -> Diagnostics:
    """Return the diagnostics with what speaks against the answer, or against the validator that chose it."""
    if found.effective_rows and (found.unsupported_mass or 0.0) < SOME_UNSUPPORTED:
        plain = hardly_biased(rows)
        found = opposed(found, answer, estimated(plain.name, plain, rows))
    if not isinstance(rows.model, TrainedModel):
        return found
    elsewhere = replace(rows, model=CrossFitted(rows.model))
    if estimator.uses("model"):
        inside, outside = replace(answer, refit_stderr=0.0), estimated(answer.name, estimator, elsewhere)
        found = replace(found, model_shift=moves(inside, outside)[0])
        found = compared(found, "the answer", inside, outside)
    if validator is not None and validator.uses("model") and validator != estimator:
        inside, outside = (estimated(validator.name, validator, where) for where in (rows, elsewhere))
        found = compared(found, f"the validator {validator.name}", inside, outside)
    return found


def compared(found: Diagnostics, what: str, inside: Estimate, outside: Estimate) -> Diagnostics:
    """Return the diagnostics with a doubt if an estimate is another one out of sample."""
    return doubted(found, _moved(what, inside, outside)) if moves(inside, outside)[1] else found


def moves(inside: Estimate, outside: Estimate) -> tuple[float, bool]:
    """Return the shift out of sample in standard errors, and whether it, or the growth of the error, is large."""
    rounding = ROUNDING * max(abs(inside.value), abs(outside.value))
    noise = max(inside.stderr, rounding)
    shift = (outside.value - inside.value) / noise if noise else 0.0
    return shift, abs(shift) > LARGE_SHIFT or outside.stderr > LARGE_STRETCH * noise


def hardly_biased(rows: Rows) -> Estimator:
    """Return an estimator with hardly any bias and less variance than a validator: SNIPS or, for doses, a kernel's."""
    if rows.kind == "labels":
        return SNIPS()
    kind = KernelIPS if KernelDR.obstacle(rows) else KernelDR
    return kind(kernels.rule_of_thumb(rows.dose))


def opposed(found: Diagnostics, answer: Estimate, plain: Estimate) -> Diagnostics:
    """Return the diagnostics with how far the answer is from an estimate with hardly any bias."""
    gap = answer - plain
    disagreement = gap.value / gap.stderr if gap.stderr > ROUNDING * abs(plain.value) else 0.0
    found = replace(found, disagreement=disagreement)
    if abs(disagreement) <= LARGE_DISAGREEMENT:
        return found
    opinion = f"{plain.name}, which is hardly biased, says {plain.value:.4g} ± {plain.stderr:.2g}"
    return doubted(found, f"{opinion}, {abs(disagreement):.1f} standard errors of the difference away")


def _moved(what: str, inside: Estimate, outside: Estimate) -> str:
    return (
        f"{what} moves from {inside.value:.4g} ± {inside.stderr:.2g} to {outside.value:.4g} ± {outside.stderr:.2g} "
        "when the reward model predicts only rows it was not fitted on: use a cross-fitted one"
    )
