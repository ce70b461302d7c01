"""Numbers in text."""

import pytest

from counterfold.report.numbers import format_number, format_signed


@pytest.mark.parametrize(
    ("number", "stderr", "text"),
    [(0.90193, 0.058, "0.902"), (1001278.77, 18.5, "1,001,279"), (5.28e-5, 7e-7, "0.00005280"), (3.0, 0.0, "3")],
)
def test_numbers_are_shown_to_two_digits_of_their_error(number, stderr, text):
    assert format_number(number, stderr) == text


def test_nothing_has_no_minus_sign():
    assert (format_number(-1e-9, 0.05), format_signed(-1e-9, 0.05), format_signed(-0.2, 0.5)) == (
        "0.000",
        "+0.000",
        "-0.20",
    )


@pytest.mark.parametrize(
    ("number", "stderr", "text"),
    [(1e-20, 1e-22, "1e-20"), (1.2347e-9, 1e-11, "1.235e-09"), (1.5e300, 1e299, "1.5e+300"), (0.0, 1e-12, "0")],
)
def test_very_small_and_very_large_numbers_have_an_exponent(number, stderr, text):
    assert format_number(number, stderr) == text
