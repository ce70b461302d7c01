"""The log in memory: one row per decision, checked once; its actions, times, groups, encoded context and loggers.

`log.Log` is the class. Modules here import `base` alone.
"""
