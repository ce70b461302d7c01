"""Foundations that know nothing of logs: arrays, errors, validation, messages, hashing, threads, progress, memory.

Every other folder may import these; they import nothing of the package.
"""
