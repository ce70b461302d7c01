"""Formatting only: what was computed, made readable."""
