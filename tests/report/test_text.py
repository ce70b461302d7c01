"""Numbers in text."""

import pytest

from counterfold.report.text import format_number


@pytest.mark.parametrize(
    ("number", "stderr", "text"),
    [(0.90193, 0.058, "0.902"), (1001278.77, 18.5, "1001279"), (5.28e-5, 7e-7, "0.00005280"), (3.0, 0.0, "3")],
)
def test_numbers_are_shown_to_two_digits_of_their_error(number, stderr, text):
    assert format_number(number, stderr) == text
    assert format_number(1e-20, 1e-22) == "1e-20"
