"""Synthetic logs in files."""

from counterfold.experiments.synthetic_file import Destination, write


def written(problem, rows, path, *, threads=None, **more):
    return write(problem, rows, Destination(path, **more), threads)
