"""Formatting only: the results of experiments as tables for the terminal."""
