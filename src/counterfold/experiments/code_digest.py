"""The digest of the package's code, by which a journal knows whether its rows would still come out the same."""

import ast
import hashlib
from pathlib import Path

import counterfold

SHOWING = {"cli", "report", "results"}
"""Packages and modules that only show results, so that rows do not depend on them."""


def digest_package(folder: Path = Path(counterfold.__file__).parent) -> str:
    """Return 16 digits that change when a statement of the package does, except in what only shows results."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        module = file.relative_to(folder).with_suffix("")
        if SHOWING.isdisjoint(module.parts):
            digest.update(f"{module.as_posix()} {dump_code(file.read_text(encoding='utf-8'))}".encode())
    return digest.hexdigest()[:16]


def dump_code(source: str) -> str:
    """Return the syntax tree of a module as text: without comments, layout, docstrings and other idle texts.

    >>> dump_code("x = 1  # one") == dump_code('"Doc."; x = (1)')
    True
    """

    def is_text(statement: ast.stmt) -> bool:
        value = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, str)

    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [statement for statement in node.body if not is_text(statement)]
    return ast.dump(tree)
