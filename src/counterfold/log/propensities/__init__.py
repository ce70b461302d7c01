"""Propensities that nobody logged, fitted from the context by a classifier; and logged ones that are not precise."""

from counterfold.log.propensities.fitting import Decisions as Decisions
from counterfold.log.propensities.fitting import FittedPropensities as FittedPropensities
from counterfold.log.propensities.fitting import PropensityFit as PropensityFit
from counterfold.log.propensities.fitting import as_fit as as_fit
from counterfold.log.propensities.precision import Precision as Precision
from counterfold.log.propensities.precision import as_precision as as_precision
from counterfold.log.propensities.quality import Bin as Bin
from counterfold.log.propensities.quality import Quality as Quality
