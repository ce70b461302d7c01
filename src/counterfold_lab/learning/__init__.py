"""The benchmark of learning: what policies that are learnt from logs are truly worth, and whether that is known."""
