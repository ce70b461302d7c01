"""Which column of a table has which role, what was done with its rows, and how it becomes a log.

`scan.py` is the log that is not read yet, `schema.py` what its columns hold, and `resolution.py` how that is found out.
"""
