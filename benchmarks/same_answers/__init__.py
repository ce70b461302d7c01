"""The benchmark of same answers, as a package; `tests/support` has a module of the same name."""
