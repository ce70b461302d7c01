"""Tables and pictures that are made of the rows of an experiment, and cannot change them."""
