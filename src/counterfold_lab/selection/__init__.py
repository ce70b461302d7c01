"""The benchmark of selection: how well ways to choose an estimator do on many problems whose truth is known."""
