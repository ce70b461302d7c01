"""Questions: what no check can tell, which every output asks in the same words."""

QUESTIONS = (
    "Was each column known before the decision?",
    "Was the policy fixed before these rewards were seen?",
    "Are all rows of the period there?",
    "Is every reward in one unit?",
)
"""What makes an answer wrong and cannot be seen in the log, for whoever knows how the log came about."""


def ask() -> str:
    """Return the questions in one line.

    >>> ask()[:65]
    'No check can answer these: Was each column known before the decis'
    """
    return f"No check can answer these: {' '.join(QUESTIONS)}"
