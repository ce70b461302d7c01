"""What an engine knows of a log, a policy and a reward model; diagnostics, selectors and answers need nothing else."""
