"""Whether two versions of the package give the same answers, to the last digit, and say them in the same words.

    python benchmarks/same_answers record OLD.json --jobs 2
    python benchmarks/same_answers record NEW.json --jobs 2
    python benchmarks/same_answers compare OLD.json NEW.json --texts TEXTS.md

`record` runs every case with the counterfold that Python imports, through its public names and its command line alone,
so that it runs unchanged on any version. Each section runs in a process of its own, in an empty folder. `list` prints
the names of the sections; `--only NAME` records or compares one of them, and may be repeated. `--no-spark` leaves out
what needs Java.

`compare` sorts differences into three classes:

- NUMBERS: a number, a verdict, a name, or what an answer is made of; also a case that is missing. Exit code 1.
- ERRORS: the type of an error, an exit code, or an answer where there was an error. Exit code 1.
- TEXTS: only the words of a sentence. Exit code 0; `--texts FILE` writes all of them, old and new, as Markdown.

A line whose words are the same and whose digits are not is a difference of NUMBERS, wherever it stands. Cases that only
the second file has are counted and allowed.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Python puts the folder of this file first. It goes: its modules are those of the package `same_answers`.
sys.path[:1] = [str(ROOT / "benchmarks"), str(ROOT), str(ROOT / "tests" / "support")]

from same_answers import comparing, recording, sections  # noqa: E402 (it is found by the path above)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    record = commands.add_parser("record", help="run all cases and write what they say")
    record.add_argument("file", type=Path)
    record.add_argument("--no-spark", action="store_true", help="leave out the cases that need Java")
    record.add_argument("--only", action="append", choices=sections.NAMES, help="run this section; may be repeated")
    record.add_argument("--jobs", type=int, default=1, help="how many sections run at the same time")
    record.add_argument("--threads", type=int, help="how many threads each case may use; must not change anything")
    record.set_defaults(run=run_record)

    compare = commands.add_parser("compare", help="list the differences of two such files")
    compare.add_argument("files", type=Path, nargs=2)
    compare.add_argument("--texts", type=Path, help="write the texts that differ to this Markdown file")
    compare.add_argument(
        "--only", action="append", choices=sections.NAMES, help="compare this section; may be repeated"
    )
    compare.set_defaults(run=lambda options: comparing.compare(*options.files, options.texts, options.only))

    listing = commands.add_parser("list", help="print the names of all sections")
    listing.set_defaults(run=lambda _: print(*sections.NAMES, sep="\n"))

    section = commands.add_parser("section", help="run one section in this process; `record` calls this")
    section.add_argument("name", choices=sections.NAMES)
    section.add_argument("file", type=Path)
    section.set_defaults(run=lambda options: recording.record_section(options.name, options.file.resolve()))

    options = parser.parse_args()
    sys.exit(options.run(options))


def run_record(options):
    names = options.only or sections.NAMES
    if options.no_spark:
        names = [name for name in names if name != "spark"]
    return recording.record(options.file.resolve(), names, options.jobs, options.threads)


if __name__ == "__main__":
    main()
