"""Selectors, one file each; the file's name is the selector's name on the command line."""
