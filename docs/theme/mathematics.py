"""Make MathML of every formula when the site is built, so that pages need neither a script nor the network."""

import html
import re
from functools import cache

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Return the page with MathML in place of the formulas that arithmatex marked."""
    return FORMULA.sub(lambda found: translate(found[3], found[2]), content)


@cache
def translate(formula: str, bracket: str) -> str:
    r"""Return the MathML of one formula, set on a line of its own where its bracket is `\[`."""
    display = "block" if bracket == "[" else "inline"
    return convert(html.unescape(formula.strip()), display=display)
