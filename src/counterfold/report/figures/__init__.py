"""Figures of results, one file each; the file's name is the figure's.

A file has all of a figure: the rows it observes, its table (`result.exhibits[NAME]`), its chart, its caption and its
text alternative. `base.py` holds `Figure`; a table without a chart derives from `FigureTable`, which lies below
evaluation. Evaluations find the files here for their tables, so no file imports Altair before it draws.
"""
