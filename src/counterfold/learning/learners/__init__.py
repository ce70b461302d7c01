"""Learners, one short file each: ways to learn a policy from a log."""
