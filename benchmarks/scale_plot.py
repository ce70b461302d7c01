"""Draw docs/scale/scale.png and .svg from docs/scale/bench.json, which benchmarks/scale.py writes."""

import argparse
import json
from pathlib import Path

from counterfold_lab.results import OURS, PUBLISHED, load_pyplot, save_picture

RESULTS = Path(__file__).parents[1] / "docs" / "scale" / "bench.json"
READING = "#888888"
STYLES = {  # of what is evaluated from a file, and its words
    ("read", False): (READING, "--", "reading alone"),
    ("plain", False): ("#67a9cf", "-", "plain set, 5 candidates"),
    ("paper", False): (OURS, "-", "paper's set, 191 candidates"),
    ("read", True): ("#d8b365", "--", "weights only: reading alone"),
    ("plain", True): (PUBLISHED, "-", "weights only, 2 candidates"),
}


def drawn(found, path):
    """Draw all that was measured, and return the files."""
    canvas, axes = load_pyplot().subplots(2, 3, figsize=(13, 7.2))
    by_rows(axes[0, 0], axes[0, 1], curves(found["sections"].get("rows", [])))
    sweeps = {group["title"].removeprefix("more "): group["lines"] for group in found["sections"].get("more", [])}
    reading = {
        line["work"]["log"]["rows"]: line["seconds"]
        for line in (line for group in found["sections"].get("rows", []) for line in group["lines"])
        if line["work"]["kind"] == "read" and not line["work"]["log"].get("logged_only")
    }
    for place, what in zip((*axes[0, 2:], *axes[1]), ("candidates", "splits", "targets", "actions"), strict=True):
        if what in sweeps:
            by_number(place, sweeps[what], what, reading)
    for place in axes.flat:
        place.tick_params(labelsize=8)
        place.grid(alpha=0.3)
        place.spines[["top", "right"]].set_visible(False)
    canvas.suptitle(heading(found["machine"]), fontsize=10)
    canvas.legend(*axes[0, 1].get_legend_handles_labels(), fontsize=8, frameon=False, loc="lower center", ncols=6)
    return save_picture(canvas, path, rect=(0, 0.04, 1, 1))


def heading(machine):
    cores = f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']:.0f} GiB"
    return f"Evaluating logs in Parquet on one machine, K = 100 splits: medians, with the least and the most\n{cores}"


def curves(groups):
    """Return the lines over the number of rows, by what was done with which kind of log."""
    found = {}
    for line in [line for group in groups for line in group["lines"]]:
        work = line["work"]
        what = "read" if work["kind"] == "read" else work["candidates"]
        found.setdefault((what, bool(work["log"].get("logged_only"))), []).append(line)
    return {key: sorted(found[key], key=rows_of) for key in STYLES if key in found}


def rows_of(line):
    return line["work"]["log"]["rows"]


def by_rows(times, memory, every):
    """Draw the time per row and the largest memory over the number of rows."""
    for key, lines in every.items():
        color, dashes, words = STYLES[key]
        counts = [rows_of(line) for line in lines]
        ends = [[1e6 * line[end] / rows_of(line) for line in lines] for end in ("low", "high")]
        middle = [1e6 * line["seconds"] / rows_of(line) for line in lines]
        times.vlines(counts, *ends, color=color, linewidth=1)
        times.plot(counts, middle, f"o{dashes}", color=color, markersize=4, label=words)
        memory.plot(counts, [line["peak_mib"] for line in lines], f"o{dashes}", color=color, markersize=4, label=words)
    if ("read", False) in every:
        lines = every["read", False]
        sizes = [line["bytes"] / 2**20 for line in lines]
        memory.plot(list(map(rows_of, lines)), sizes, ":", color="black", linewidth=1, label="the file itself")
    for place, title, unit in ((times, "Time per row", "microseconds"), (memory, "Largest memory", "MiB")):
        place.set(xscale="log", yscale="log")
        named(place, title, "rows", unit)
        place.yaxis.set_major_formatter("{x:g}")


def by_number(place, lines, what, reading):
    """Draw the seconds over the number of something or, where logs differ in length, microseconds per row."""
    counts = [number(line, what) for line in lines]
    alike = len({rows_of(line) for line in lines}) == 1
    scales = [1.0 if alike else 1e6 / rows_of(line) for line in lines]
    low, middle, high = (
        [line[part] * scale for line, scale in zip(lines, scales, strict=True)] for part in ("low", "seconds", "high")
    )
    place.vlines(counts, low, high, color=OURS, linewidth=1)
    place.plot(counts, middle, "o-", color=OURS, markersize=4)
    rows = rows_of(lines[0])
    if alike:
        place.set_ylim(0, 1.15 * max(high))
        named(place, f"Time of {rows:,} rows by {what}", what, "seconds")
    else:
        place.set_yscale("log")
        named(place, f"Time per row by {what}", what, "microseconds")
        place.yaxis.set_major_formatter("{x:g}")
    if alike and what != "targets" and rows in reading:
        place.axhline(reading[rows], color=READING, linestyle="--", linewidth=1.2)
        place.text(counts[-1], reading[rows], "reading alone", size=8, ha="right", va="bottom")
    if max(counts) >= 50 * min(counts) and what != "candidates":
        place.set_xscale("log")
    place.set_xticks(counts, [f"{count:,}" for count in counts])
    place.set_xticks([], minor=True)


def named(place, title, across, up):
    place.set_title(title, fontsize=10, loc="left")
    place.set_xlabel(across, fontsize=9)
    place.set_ylabel(up, fontsize=9)


def number(line, what):
    work = line["work"]
    return {"candidates": line["candidates"], "splits": work["splits"], "targets": work.get("targets", 1)}.get(
        what, work["log"]["actions"]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?", default=RESULTS)
    given = parser.parse_args()
    for path in drawn(json.loads(given.results.read_text()), given.results.with_name("scale.png")):
        print(path.name)


if __name__ == "__main__":
    main()
