"""The licences of everything that counterfold depends on, from the metadata of what is installed; `make licences`."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
HEAD = """# Licences of the dependencies

counterfold itself is under the [Apache License 2.0](../LICENSE). It contains no code of the packages below, which pip
installs. `make licences` makes this page from the metadata of what is installed: what the packages say of themselves.

| package | needed by | licence |
| --- | --- | --- |"""


def list_groups() -> dict[str, list[str]]:
    """Return the requirements of the package and of each extra."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    # `plot` is another name of `report`, and `dev` is not for users.
    ranked = sorted(optional, key=lambda name: (name == "dev", name == "plot", name))
    extras = {f"the extra `{name}`": optional[name] for name in ranked}
    return {"counterfold": project["dependencies"], **extras}


def list_names(texts: list[str]) -> Iterator[str]:
    """Yield the name of each package that some requirements name, extras of it left out."""
    for one in map(Requirement, texts):
        if one.name == "counterfold":  # an extra that includes another one
            continue
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            yield canonicalize_name(one.name)


def find_owners() -> dict[str, str]:
    """Return every package that is required, directly or not, and the first group that does."""
    owners: dict[str, str] = {}
    for group, texts in list_groups().items():
        waiting = list(list_names(texts))
        while waiting:
            name = waiting.pop()
            if name not in owners:
                owners[name] = group
                waiting += list(list_names(find_requirements(name)))
    return owners


def find_requirements(name: str) -> list[str]:
    """Return what a package requires; nothing if it is not installed."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def find_licence(name: str) -> str | None:
    """Return the licence of a package in a few words, or nothing if it is not installed."""
    try:
        found = metadata(name)
    except PackageNotFoundError:
        return None
    classifiers = [
        text.split(" :: ")[-1] for text in found.get_all("Classifier") or [] if text.startswith("License ::")
    ]
    stated = (found["License"] or "").strip()
    return found["License-Expression"] or ", ".join(classifiers) or (stated if len(stated) <= 60 else "see its files")


def write_page() -> str:
    """Return the page."""
    owners = find_owners()
    known = {name: find_licence(name) for name in sorted(owners)}
    lines = [f"| {name} | {owners[name]} | {licence} |" for name, licence in known.items() if licence is not None]
    return "\n".join([HEAD, *lines])


if __name__ == "__main__":
    print(write_page())  # noqa: T201 (this is what it is for)
