"""Intervals around an estimate, one file each; the file's name is the interval's name."""
