"""Addresses of files and databases, and what of them must not be shown."""

import os
import re
from collections.abc import Callable
from os import PathLike
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

HIDDEN = "***"

SHORT = 6
"""From so many characters on, a secret is taken out of a text wherever it stands."""

ALONE = r"(?:(?<=[\"'`=:/(])|\b(?={0}@)){0}(?=[\"'`&;,@:/).\s]|$)"
"""Where a short secret stands as a value."""


def find_scheme(value: Any) -> str | None:
    """Return what an address starts with, in small letters; nothing if the value is no address.

    >>> find_scheme("S3://bucket/log.parquet"), find_scheme("log.parquet")
    ('s3', None)
    """
    found = SCHEME.match(str(os.fspath(value))) if isinstance(value, (str, PathLike)) else None
    return found[1].lower() if found else None


def show_uri(uri: str) -> str:
    """Return an address without users, passwords and settings.

    >>> show_uri("postgresql://ann:secret@db.example:5432/shop?sslpassword=other")
    'postgresql://db.example:5432/shop'
    """
    scheme, _, rest = uri.partition("://")
    place, slash, path = rest.split("?")[0].split("#")[0].partition("/")
    if "@" in path:  # a password with a slash in it
        place, slash, path = path.rpartition("@")[2], "", ""
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"


def hide_secrets(uri: str) -> Callable[[str], str]:
    """Return a function that takes out of a text what an address holds of passwords and settings.

    Short ones are taken out where they stand as values: in quotes, behind `=`, `:`, `/` or `(`, or before `@`. They may
    be parts of words elsewhere.

    >>> hide_secrets("postgresql://ann:se%2Fcret@db/shop")("cannot use se/cret at db")
    'cannot use *** at db'
    >>> hide_secrets("postgresql://db/shop?user=a")('no such table "a" as a table for user=a')
    'no such table "***" as a table for user=***'
    """
    rest = uri.partition("://")[2]
    user = rest.rpartition("@")[0]
    written = [user, user.partition(":")[2], *(value for _, value in parse_qsl(urlsplit(uri).query))]
    secrets = sorted({one for text in written for one in (text, unquote(text)) if one}, key=len, reverse=True)
    patterns = [re.compile(ALONE.format(re.escape(one)) if len(one) < SHORT else re.escape(one)) for one in secrets]

    def hide(text: str) -> str:
        text = text.replace(uri, show_uri(uri))
        for pattern in patterns:
            text = pattern.sub(HIDDEN, text)
        return text

    return hide


def read_path(uri: str) -> str:
    """Return the path in the address of a file, which has three slashes before it.

    >>> read_path("sqlite:///shop.db"), read_path("sqlite:////data/shop.db")
    ('shop.db', '/data/shop.db')
    """
    return unquote(uri.partition("://")[2].partition("?")[0].removeprefix("/"))
