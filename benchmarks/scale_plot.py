"""Draw docs/scale/scale.png and .svg from docs/scale/bench.json, which benchmarks/scale.py writes."""

import argparse
import json
from pathlib import Path

from counterfold_lab.results import OURS, PUBLISHED, draw_line_at, load_altair, make_chart, save_chart

RESULTS = Path(__file__).parents[1] / "docs" / "scale" / "bench.json"
READING = "#888888"
DASHED, DOTTED = [6, 4], [2, 3]
STYLES = {  # of what is evaluated from a file, and its words
    ("read", False): (READING, DASHED, "reading alone"),
    ("plain", False): ("#67a9cf", [], "plain set, 5 candidates"),
    ("paper", False): (OURS, [], "paper's set, 191 candidates"),
    ("read", True): ("#d8b365", DASHED, "weights only: reading alone"),
    ("plain", True): (PUBLISHED, [], "weights only, 2 candidates"),
}
FILE = "the file itself"
WIDTH, HEIGHT = 270, 200
SWEEPS = ("candidates", "splits", "targets", "actions")


def drawn(found, path):
    """Draw all that was measured, and return the files."""
    alt = load_altair()
    every = curves(found["sections"].get("rows", []))
    sweeps = {group["title"].removeprefix("more "): group["lines"] for group in found["sections"].get("more", [])}
    reading = {
        line["work"]["log"]["rows"]: line["seconds"]
        for group in found["sections"].get("rows", [])
        for line in group["lines"]
        if line["work"]["kind"] == "read" and not line["work"]["log"].get("logged_only")
    }
    panels = [draw_times(every), draw_memory(every)] if every else []
    panels += [draw_sweep(sweeps[what], what, reading) for what in SWEEPS if what in sweeps]
    chart = alt.concat(*panels, columns=3).resolve_scale(x="independent", y="independent")
    return save_chart(chart.properties(title=heading(found["machine"])), path)


def heading(machine):
    cores = f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']:.0f} GiB"
    words = "Evaluating logs in Parquet on one machine, K = 100 splits: medians, with the least and the most"
    return load_altair().Title(words, subtitle=cores, anchor="start")


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


def draw_times(every):
    """Return the time per row over the number of rows."""
    lines = []
    for key, several in every.items():
        for line in several:
            rows = rows_of(line)
            numbers = {"value": line["seconds"], "low": line["low"], "high": line["high"]}
            lines.append(
                {"rows": rows, "what": STYLES[key][2], **{end: 1e6 * one / rows for end, one in numbers.items()}}
            )
    return draw_curves(lines, "Time per row", "microseconds")


def draw_memory(every):
    """Return the largest memory over the number of rows, and the size of the file."""
    lines = [
        {"rows": rows_of(line), "what": STYLES[key][2], "value": line["peak_mib"]}
        for key, several in every.items()
        for line in several
    ]
    files = every.get(("read", False), [])
    lines += [{"rows": rows_of(line), "what": FILE, "value": line["bytes"] / 2**20} for line in files]
    return draw_curves(lines, "Largest memory", "MiB")


def draw_curves(lines, title, unit):
    """Return a line for each thing that was done, over the number of rows, on logarithmic axes."""
    alt = load_altair()
    styles = {words: (colour, dashes) for colour, dashes, words in STYLES.values()} | {FILE: ("black", DOTTED)}
    colours, dashes = zip(*styles.values(), strict=True)
    legend = alt.Legend(orient="bottom", columns=3, labelLimit=300)
    colour = alt.Color("what:N", title=None, scale=alt.Scale(domain=list(styles), range=list(colours)), legend=legend)
    dash = alt.StrokeDash("what:N", title=None, scale=alt.Scale(domain=list(styles), range=list(dashes)), legend=legend)
    across = alt.X("rows:Q", title="rows", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", labelOverlap=True))
    plot = make_chart(lines).encode(across, colour)
    value = alt.Y("value:Q", title=unit, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", labelOverlap=True))
    layers = [plot.mark_line().encode(value, dash), plot.mark_point(filled=True, opacity=1).encode(value)]
    if all("low" in line for line in lines):
        layers.append(plot.mark_rule().encode(y="low:Q", y2="high:Q"))
    return alt.layer(*layers).properties(title=title, width=WIDTH, height=HEIGHT)


def draw_sweep(several, what, reading):
    """Return the seconds over the number of something or, where logs differ in length, microseconds per row."""
    alt = load_altair()
    rows = rows_of(several[0])
    alike = len({rows_of(line) for line in several}) == 1
    lines = []
    for line in several:
        scale = 1.0 if alike else 1e6 / rows_of(line)
        numbers = {"value": line["seconds"], "low": line["low"], "high": line["high"]}
        lines.append({"count": number(line, what), **{end: scale * one for end, one in numbers.items()}})
    counts = [line["count"] for line in lines]
    is_wide = max(counts) >= 50 * min(counts) and what != "candidates"
    axis = alt.Axis(values=counts, format=",d", labelOverlap=True)
    across = alt.X("count:Q", title=what, axis=axis, scale=alt.Scale(type="log" if is_wide else "linear", zero=False))
    unit = "seconds" if alike else "microseconds"
    value = alt.Y("value:Q", title=unit, scale=alt.Scale(type="linear" if alike else "log"), axis=alt.Axis(format="~g"))
    plot = make_chart(lines).encode(across)
    layers = [
        plot.mark_line(color=OURS).encode(value),
        plot.mark_point(color=OURS, filled=True, opacity=1).encode(value),
    ]
    layers.append(plot.mark_rule(color=OURS).encode(y="low:Q", y2="high:Q"))
    if alike and what != "targets" and rows in reading:
        layers.append(draw_line_at(reading[rows], is_vertical=False, dashes=DASHED))
        word = make_chart([{"count": max(counts), "value": reading[rows]}])
        word = word.mark_text(text="reading alone", align="right", dy=-6, color=READING)
        layers.append(word.encode(x="count:Q", y="value:Q"))
    title = f"Time of {rows:,} rows by {what}" if alike else f"Time per row by {what}"
    return alt.layer(*layers).properties(title=title, width=WIDTH, height=HEIGHT)


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
