"""Propensities that nobody logged, fitted from the context by a classifier; and logged ones that are not precise."""

from counterfold.propensities.fitting import Decisions as Decisions
from counterfold.propensities.fitting import FittedPropensities as FittedPropensities
from counterfold.propensities.fitting import PropensityFit as PropensityFit
from counterfold.propensities.fitting import as_fit as as_fit
from counterfold.propensities.precision import Precision as Precision
from counterfold.propensities.precision import as_precision as as_precision
from counterfold.propensities.quality import Bin as Bin
from counterfold.propensities.quality import Quality as Quality
