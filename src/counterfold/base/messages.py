"""The few turns of phrase that messages share, and how any text is made safe to show; imports nothing of the package.

Names, labels, paths and broken rows come from files that nobody has looked at. Errors and warnings pass through
`clean_sentence` and reports through `clean`, whatever they say; a single label is best quoted by `show`.
"""

import difflib
from collections.abc import Collection, Iterable
from itertools import islice

LONGEST_SENTENCE = 1000
"""The characters that an error, a warning or a text in a report has at most."""

LONGEST_LABEL = 60
"""The characters that are shown of a label or a name."""

LONGEST_LIST = 400
"""The characters that a list of names may take, however many there are."""

MOST_CHOICES = 5000
"""The names among which the one nearest to a mistyped name is looked for; that takes a second for 10,000."""

LEAVE_OUT = " Fill in what is missing, or leave these rows out."
"""What to do with rows in which a number is missing."""


def clean(text: str) -> str:
    r"""Return a text whose control characters are escaped, as in `repr`, so that a terminal does not obey them.

    These are line breaks, escape sequences, marks that turn the direction of writing, invisible characters and halves
    of characters. What is clean is not changed.

    >>> print(clean("\x1b[31mred\n\u202e\u200b \udc80 é [bold]"))
    \x1b[31mred\n\u202e\u200b \udc80 é [bold]
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, without its middle if it has more.

    >>> cut("a long label with a number behind: 17", 20)
    'a long label...d: 17'
    """
    end = (most - 3) // 3
    return text if len(text) <= most else f"{text[: most - 3 - end]}...{text[-end:]}"


def abbreviate(text: str, most: int) -> str:
    """Return a text that is safe to show, and has at most so many characters."""
    ends = text if len(text) <= 2 * most else text[:most] + text[-most:]  # a megabyte need not be cleaned
    return cut(clean(ends), most)


def clean_sentence(text: str) -> str:
    """Return a sentence in one line that is safe to show, and not too long to read."""
    return abbreviate(" ".join(text.split()) if "\n" in text else text, LONGEST_SENTENCE)


def show(label: object) -> str:
    """Return a label, a name or a value from data as a short text that is safe to show."""
    return abbreviate(str(label), LONGEST_LABEL)


def quote(name: object) -> str:
    """Return a name from data as it is typed after an option on the command line.

    >>> quote("user_id"), quote("p(shown) %")
    ('user_id', "'p(shown) %'")
    """
    import shlex

    return shlex.quote(show(name))


def shorten(value: object) -> str:
    """Return a value as text of at most 60 characters in one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of thousands of digits
        text = f"a very long {type(value).__name__}"
    return show(text)


def join_choices(choices: Iterable[str]) -> str:
    """Return the choices as `a`, `b` or `c`."""
    *first, last = (f"`{show(choice)}`" for choice in choices)
    return f"{', '.join(first)} or {last}" if first else last


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return a sentence that suggests the choice nearest to `name`, or nothing.

    >>> suggest("TS", ["is", "ts"]), suggest("age", [" age"])
    (' Did you mean `ts`?', ' Did you mean ` age`, with spaces around it? In CSV, write none behind commas.')
    """
    likely = [choice for choice in islice(choices, MOST_CHOICES) if len(choice) <= LONGEST_SENTENCE]
    alike = [choice for choice in likely if choice.strip().casefold() == name.strip().casefold()]
    match = alike or difflib.get_close_matches(name[:LONGEST_SENTENCE], likely, n=1)
    if match and match[0] != match[0].strip():
        return f" Did you mean `{show(match[0])}`, with spaces around it? In CSV, write none behind commas."
    return f" Did you mean `{show(match[0])}`?" if match else ""


def list_some(labels: Collection[object], most: int = 5) -> str:
    """Return the first few labels as text."""
    return ", ".join(map(show, list(labels)[:most])) + (", ..." if len(labels) > most else "")


def list_names(names: Collection[object]) -> str:
    """Return names as text: all of them if they are few, or else as many as can be read, and how many there are.

    >>> list_names(["action", "reward"])
    'action, reward'
    >>> list_names([f"a_long_name_{number}" for number in range(2000)])[-49:]
    'a_long_name_23, a_long_name_24, ... (2000 in all)'
    """
    shown: list[str] = []
    length = 0
    for name in names:
        length += len(show(name)) + 2
        if length > LONGEST_LIST:
            return f"{', '.join(shown)}, ... ({len(names)} in all)"
        shown.append(show(name))
    return ", ".join(shown)
