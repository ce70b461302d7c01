"""The two passes over a log that is never in memory as a whole, for all engines that read it a few rows at a time.

The first pass fits the reward model from sums and takes a sample; the last one sums what every candidate says over
buckets of rows.
"""
