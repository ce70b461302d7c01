"""Torture: attacks on counterfold that anybody can repeat, by `make torture` or `python -m torture`.

Each file of `kinds/` is a kind of attack and is found by walking that folder. `catalogue/` holds the corrupted files
and calls of the first kind, a file for each format or place where data come from; a new entry is a function there.
"""
