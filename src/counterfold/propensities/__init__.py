"""Propensities that nobody logged: fitted from the context by a classifier, cross-fitted and calibrated."""

from counterfold.propensities.fitting import Decisions as Decisions
from counterfold.propensities.fitting import FittedPropensities as FittedPropensities
from counterfold.propensities.fitting import PropensityFit as PropensityFit
from counterfold.propensities.fitting import as_fit as as_fit
from counterfold.propensities.quality import Bin as Bin
from counterfold.propensities.quality import Quality as Quality
