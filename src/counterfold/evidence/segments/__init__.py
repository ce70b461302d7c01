"""Segments: how columns are cut into them, what is summed over them, and the answers for all of them."""
