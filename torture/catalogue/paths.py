"""Paths: empty, too long, not UTF-8, closed, links, pipes and devices, for the log and for every other file."""

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass

import counterfold as cf
from torture.cases import CallCase, CommandCase, LogCase, run_command
from torture.catalogue import EITHER, ENGINES, EVERYWHERE, REFUSED, RIGHT, entry
from torture.logs import Answer, know_answer, make_table, write_csv, write_parquet

NOBODY = 65534


def add(name, allowed, make_path, ways=EVERYWHERE, **settings):
    """Register a path that a function of a folder with a good log in it returns."""

    @entry(name, allowed, ways, **settings)
    def make(folder):
        (folder / "log.csv").write_text(write_csv())
        (folder / "log.parquet").write_bytes(write_parquet())
        return LogCase(make_path(folder))


def make_fifo(folder):
    """Make a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe.csv")
    return folder / "pipe.csv"


def make_link(folder, target):
    """Make a link to some place."""
    (folder / "link.csv").symlink_to(target)
    return folder / "link.csv"


def rename(folder, name):
    """Give the log another name."""
    (folder / "log.csv").rename(folder / name)
    return folder / name


def make_folder(folder, name):
    """Make a folder that is named like a file."""
    (folder / name).mkdir()
    return folder / name


PATHS = {
    "empty": (REFUSED, lambda _: ""),
    "a space": (REFUSED, lambda _: " "),
    "a dot with nothing to read": (REFUSED, lambda folder: make_folder(folder, "empty")),
    "4,000 characters": (REFUSED, lambda _: "a" * 4000 + ".csv"),
    "100,000 characters": (REFUSED, lambda _: "a" * 100_000 + ".csv"),
    "4,000 characters in folders": (REFUSED, lambda _: "a/" * 2000 + "log.csv"),
    "not there": (REFUSED, lambda folder: folder / "nowhere.csv"),
    "in a folder that is not there": (REFUSED, lambda folder: folder / "nowhere" / "log.csv"),
    "through a file": (REFUSED, lambda folder: folder / "log.csv" / "log.csv"),
    "a folder named csv": (REFUSED, lambda folder: make_folder(folder, "folder.csv")),
    "a folder named parquet": (REFUSED, lambda folder: make_folder(folder, "folder.parquet")),
    "a dangling link": (REFUSED, lambda folder: make_link(folder, "nowhere.csv")),
    "a link to itself": (REFUSED, lambda folder: make_link(folder, "link.csv")),
    "a link to the log": (RIGHT, lambda folder: make_link(folder, "log.csv")),
    "a link to a device": (REFUSED, lambda folder: make_link(folder, "/dev/zero")),
    "/dev/null": (REFUSED, lambda _: "/dev/null"),
    "/dev/zero": (REFUSED, lambda _: "/dev/zero"),
    "a pipe without a writer": (REFUSED, make_fifo),
    "home by a tilde": (EITHER, lambda _: "~/log.csv"),
    "a variable that is not expanded": (REFUSED, lambda _: "$LOGS/log.csv"),
    "a glob": (EITHER, lambda _: "lo*.csv"),
    "an address": (REFUSED, lambda _: "https://example.org/log.csv"),
    "an address of S3": (REFUSED, lambda _: "s3://bucket/log.parquet"),
    "a file address": (EITHER, lambda folder: f"file://{folder}/log.csv"),
    "with NUL": (REFUSED, lambda _: "log\0.csv"),
    "with a newline that is not there": (REFUSED, lambda _: "lo\ng.csv"),
    "with an escape sequence that is not there": (REFUSED, lambda _: "\x1b[31mlog.csv"),
    "without an ending": (REFUSED, lambda folder: rename(folder, "log")),
    "with an unknown ending": (REFUSED, lambda folder: rename(folder, "log.xls")),
    "an ending alone": (EITHER, lambda folder: rename(folder, ".csv")),
    "not UTF-8": (EITHER, lambda folder: rename(folder, os.fsdecode(b"gr\xf6\xdfe.csv"))),
    "not UTF-8 and not there": (REFUSED, lambda _: os.fsdecode(b"gr\xf6\xdfe.csv")),
    "half a surrogate": (REFUSED, lambda _: "\ud800.csv"),
    "with an escape sequence": (EITHER, lambda folder: rename(folder, "\x1b[31mlog.csv")),
    "with a newline": (EITHER, lambda folder: rename(folder, "lo\ng.csv")),
    "with spaces and quotes": (RIGHT, lambda folder: rename(folder, "my 'log' \"1\".csv")),
    "with emoji": (RIGHT, lambda folder: rename(folder, "🟦.csv")),
    "255 characters": (RIGHT, lambda folder: rename(folder, "a" * 251 + ".csv")),
    "like an option": (EITHER, lambda folder: folder / ".." / folder.name / "log.csv"),
}
for name, (allowed, make_path) in PATHS.items():
    add(name, allowed, make_path, seconds=8)
add("as bytes", REFUSED, lambda folder: os.fsencode(folder / "log.csv"), ENGINES)
add("as a number", REFUSED, lambda _: 7, ENGINES)
add("as an open file", REFUSED, lambda folder: (folder / "log.csv").open(), ENGINES)


@dataclass(frozen=True, eq=False)
class ClosedCase:
    """A case that is run without the rights of an administrator, who may read everything."""

    case: LogCase | CommandCase | CallCase
    known: Answer | None = None

    def run(self, way):
        """Run the case; everything is imported before, as our own files may be closed to others, too."""
        cf.evaluate(make_table(), candidates=["ips"], reward_model=None, progress=False)
        with without_rights():
            return self.case.run(way)


@contextmanager
def without_rights():
    """Be nobody for a while, if this is an administrator."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def close(path):
    """Take away all rights to a file or folder."""
    path.chmod(0)
    path.parent.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    return path


def warm_up(folder, arguments):
    """Run a command on an open file, so that all it needs is imported."""
    (folder / "open.csv").write_text(write_csv())
    run_command(["evaluate", str(folder / "open.csv"), "--json", "--candidates", "ips", *arguments])


def add_closed(name, make_path, file="log.csv", ways=EVERYWHERE):
    """Register a log that may not be read."""

    @entry(name, REFUSED, ways)
    def make(folder):
        (folder / "inner").mkdir()
        (folder / "inner" / file).write_bytes(write_csv().encode() if file.endswith("csv") else write_parquet())
        for engine in ENGINES:
            warm_up(folder, ["--engine", engine])
        close(make_path(folder / "inner", file))
        return ClosedCase(LogCase(folder / "inner" / file))


add_closed("a closed file", lambda inner, file: inner / file)
add_closed("in a closed folder", lambda inner, _: inner)
add_closed("a closed Parquet file", lambda inner, file: inner / file, "log.parquet")
add_closed("Parquet in a closed folder", lambda inner, _: inner, "log.parquet")


@entry("a closed folder of files", REFUSED)
def closed_folder(folder):
    """Close a folder of Parquet files."""
    (folder / "log").mkdir()
    (folder / "log" / "a.parquet").write_bytes(write_parquet())
    for engine in ENGINES:
        warm_up(folder, ["--engine", engine])
    close(folder / "log")
    return ClosedCase(LogCase(folder / "log"))


@entry("synth into a closed folder", REFUSED, ("command",))
def synth_closed(folder):
    """Write a log where nobody may."""
    run_command(["synth", str(folder / "made.parquet"), "--rows", "100"])
    (folder / "closed").mkdir()
    close(folder / "closed")
    return ClosedCase(CommandCase(["synth", str(folder / "closed" / "log.parquet"), "--rows", "100"]))


@entry("features of actions in a closed folder", REFUSED, EVERYWHERE)
def features_closed(folder):
    """Describe actions by a file that may not be read."""
    (folder / "log.csv").write_text(write_csv())
    (folder / "closed").mkdir()
    features = folder / "closed" / "features.csv"
    features.write_text("action,size\nred,1\ngreen,2\nblue,3\n")
    for engine in ENGINES:
        warm_up(folder, ["--engine", engine, "--action-features", str(features)])
    close(folder / "closed")
    return ClosedCase(LogCase(folder / "log.csv", columns={"action_features": str(features)}))


FEATURES = {
    "empty": "",
    "not there": "nowhere.csv",
    "4,000 characters": "a" * 4000 + ".csv",
    "a folder": ".",
    "a device": "/dev/zero",
    "the log itself": "log.csv",
}
for name, path in FEATURES.items():

    @entry(f"features of actions: {name}", REFUSED)
    def features(folder, path=path):
        """Describe actions by a file of this path."""
        (folder / "log.csv").write_text(write_csv())
        return LogCase(folder / "log.csv", know_answer(), columns={"action_features": path})


SYNTH = {
    "empty": "",
    "a space": " ",
    "4,000 characters": "a" * 4000 + ".parquet",
    "in a folder that is not there": "nowhere/deep/log.parquet",
    "through a file": "log.csv/log.parquet",
    "a folder that is there": ".",
    "not UTF-8": os.fsdecode(b"gr\xf6\xdfe.parquet"),
    "with NUL": "a\0b.parquet",
    "a device": "/dev/full",
    "an unknown ending": "log.xls",
}
for name, path in SYNTH.items():

    @entry(f"synth: {name}", EITHER, ("command",))
    def synth(folder, path=path):
        """Write a log to this path."""
        (folder / "log.csv").write_text(write_csv())
        return CommandCase(["synth", path, "--rows", "100"])


OUT = {"through a file": "log.csv/out", "4,000 characters": "a" * 4000, "with NUL": "a\0b", "a file": "log.csv"}
for name, path in OUT.items():

    @entry(f"results of bench: {name}", REFUSED, ("command",))
    def out(folder, path=path):
        """Write results of a benchmark to this path."""
        (folder / "log.csv").write_text(write_csv())
        return CommandCase(
            ["bench", "selection", "--out", path, "--problems", "1", "--families", "binary", "--jobs", "1"]
        )
