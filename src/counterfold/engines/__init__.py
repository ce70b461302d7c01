"""Engines, which read logs that are too large for memory, one file each."""
