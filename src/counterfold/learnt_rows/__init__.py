"""What a policy remembers of the rows that it was learnt from, and how it is found again in a log."""

from counterfold.learnt_rows.overlap import AllRecognised as AllRecognised
from counterfold.learnt_rows.overlap import Overlap as Overlap
from counterfold.learnt_rows.overlap import OverlapKind as OverlapKind
from counterfold.learnt_rows.remembered import LearntRows as LearntRows
