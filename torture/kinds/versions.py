"""Other versions: a part of the tests on every Python that is installed, with the lowest and the newest dependencies.

Pythons from 3.11 are looked for on the path and beside those found there. For each a virtual environment is made; the
newest dependencies are installed with and without extras, and on the oldest Python the lowest ones that
`pyproject.toml` allows, too. Without a package index this is left out.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from torture.children import ROOT, make_environment
from torture.outcomes import Result

OLDEST = (3, 11)
TESTS = [
    "tests/log/test_log.py",
    "tests/test_bad_logs.py",
    "tests/io/formats",
    "tests/engines/test_local.py",
    "tests/test_package.py",
]
NEEDED = ("pytest", "hypothesis", "pytest-xdist")
"""What the tests need besides the package."""

FRAMES = ("pandas", "polars")
"""Data frames that the tests use where they are installed, as users of extras have them."""

ASK = "import sys; print(*sys.version_info[:2], sys.executable, sep='|')"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
SECONDS = 900


def attack(limits):
    """Yield the result of each environment."""
    pythons = find_pythons()
    plans = [(version, kind, extras) for version in pythons for kind in ("newest",) for extras in (True, False)]
    plans += [(min(pythons), "lowest", extras) for extras in (True, False)]
    if limits.is_quick or not has_index():
        return
    for version, kind, extras in plans:
        name = f"versions/{version[0]}.{version[1]} {kind} {'with' if extras else 'without'} extras"
        if limits.wants(name):
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                yield try_versions(name, pythons[version], Path(folder), kind, extras=extras)


def find_pythons():
    """Return the Pythons that can run the package, by version: those on the path, and their neighbours."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += [folder for one in folders if one.name == "shims" for folder in one.parent.glob("versions/*/bin")]
    found = {}
    for file in (file for folder in folders for file in sorted(folder.glob("python3.*"))):
        if re.fullmatch(r"python3\.\d+", file.name):
            done = subprocess.run([file, "-c", ASK], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                major, minor, place = done.stdout.strip().split("|")
                found.setdefault((int(major), int(minor)), place)
    found.setdefault(sys.version_info[:2], sys.executable)
    return {version: found[version] for version in sorted(found) if version >= OLDEST}


def has_index():
    """Say whether packages can be installed here."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", folder, "lazy-loader"]
        return run(asked).returncode == 0


def list_requirements(kind, *, extras):
    """Return what is installed: requirements as they are, or the lowest versions that they allow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    needed = (*NEEDED, *FRAMES) if extras else NEEDED
    wanted = project["dependencies"] + [one for one in optional["dev"] if one.split(">")[0] in needed]
    wanted += optional["plot"] if extras else []
    return [one.replace(">=", "==") for one in wanted] if kind == "lowest" else wanted


def try_versions(name, python, folder, kind, *, extras):
    """Return how the tests ended with some versions; old packages may use what others have since deprecated."""
    own = folder / "venv" / "bin" / "python"
    ignored = ["-W", "ignore::DeprecationWarning"] if kind == "lowest" else []
    steps = {
        "no environment": [python, "-m", "venv", folder / "venv"],
        "not installed": [own, *PIP, *list_requirements(kind, extras=extras)],
        "the package is not installed": [own, *PIP, "--no-deps", ROOT],
        "tests fail": [own, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow and not spark", *ignored, *TESTS],
    }
    for problem, command in steps.items():
        try:
            done = run(command, cwd=ROOT, env=make_environment())
        except subprocess.TimeoutExpired:
            return Result(name, "hung", f"{problem} within {SECONDS} seconds")
        if done.returncode:
            said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("WARNING: ")]
            return Result(name, "crashed", f"{problem}: " + "\n".join(said)[-1500:])
    last = done.stdout.strip().splitlines()[-1].strip("= ")
    return Result(name, "right", last, {"tests": last.partition(" in ")[0]})


def run(command, **settings):
    """Run a command, and return how it ended."""
    texts = list(map(str, command))
    return subprocess.run(texts, capture_output=True, text=True, check=False, timeout=SECONDS, **settings)
