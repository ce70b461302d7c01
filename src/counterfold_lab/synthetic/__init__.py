"""Synthetic logs of any size whose truth is known."""
