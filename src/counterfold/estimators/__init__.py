"""Estimators, one file each; the file's name is the estimator's name on the command line."""
