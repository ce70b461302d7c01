"""Inequalities: texts such as `latency <= +2%`, by which users limit rewards (guards) and actions (limits)."""

import re

NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
"""A number without a sign, as part of a pattern that encloses it in parentheses."""

START = r"(.*\S)\s*(<=|>=)\s*"

UNSIGNED = re.compile(rf"{START}({NUMBER})\s*(%?)", re.DOTALL)
"""What is limited, the side, a number, and a percent sign or none."""

SIGNED = re.compile(rf"{START}([+-]?)\s*({NUMBER})\s*(%?)", re.DOTALL)
"""What is limited, the side, a sign or none, a number, and a percent sign or none."""

ENCLOSED = re.compile(rf"{START}\(\s*([+-]?(?:{NUMBER}))\s*\)", re.DOTALL)
"""What is limited, the side, and a number in parentheses, whose sign is its own."""
