"""Intervals around an estimate, one file each; the file's name is the interval's name."""

DEFAULT = "skewed-t"
"""How the interval of an evaluation is made, where the user does not say."""
