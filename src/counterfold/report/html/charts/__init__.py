"""Charts, one file for each: what is known of a case as a picture with its numbers; None where it does not apply."""
