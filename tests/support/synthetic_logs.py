"""Synthetic logs in files."""

from counterfold_lab.synthetic.file import Destination, write_log


def written(problem, rows, path, *, threads=None, **more):
    return write_log(problem, rows, Destination(path, **more), threads)
