"""How columns are cut into segments: what users write, the values of a column, and its cuts."""
