"""The experiments of "Cross-Validated Off-Policy Evaluation" (Cief, Kveton, Kompan), run again."""
