"""The commands of the lab, one file each; `pyproject.toml` lists them as entry points."""
