"""Policies that were learnt: made of arrays alone, so that they can be read, and saved without code."""
