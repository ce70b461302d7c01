"""What a policy remembers of the rows that it was learnt from, and how it is found again in a log."""

from counterfold.policies.training_rows.overlap import AllRecognised as AllRecognised
from counterfold.policies.training_rows.overlap import Overlap as Overlap
from counterfold.policies.training_rows.overlap import OverlapKind as OverlapKind
from counterfold.policies.training_rows.remembered import LearntRows as LearntRows
