"""The two passes over a log that is never in memory as a whole, for all engines that read it a few rows at a time."""
