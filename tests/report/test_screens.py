"""What is shown at any width: the answer first, whole numbers, nothing cut, nothing beyond the edge."""

import html
import io
import re
import sys

import numpy as np
import pytest

import counterfold as cf
from counterfold.intervals.base import Bounds
from counterfold.report import console, details, text
from counterfold.report.picture import ASCII, Line, Picture
from counterfold.report.segments import list_segments

ROWS = 400
LONG = [f"policy_{number:02}_with_a_name_that_has_as_many_as_sixty_characters" for number in range(40)]
ASKED = {"progress": False, "ignore": ["large", "small", *LONG]}


@pytest.fixture(scope="module")
def log():
    """Return a log with forty targets of long names, and rewards of 1e9 and 1e-9."""
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    click = (rng.random(ROWS) < 0.3 + 0.3 * action).astype(float)
    columns = {"age": rng.normal(size=ROWS), "action": np.array(["a", "b"])[action], "propensity": np.full(ROWS, 0.5)}
    columns |= {"reward": click, "large": 1e9 * click, "small": 1e-9 * click}
    columns |= {"kind": rng.choice(["one", "another-kind"], ROWS)}
    columns |= {"time": np.datetime64("2024-02-05") + np.arange(ROWS) // 20}
    shares = {name: number / len(LONG) for number, name in enumerate(LONG)}
    return columns | {name: np.where(rng.random(ROWS) < share, "b", "a") for name, share in shares.items()}


def compare(log, names, **more):
    return text.comparison(cf.compare(log, names, candidates=["ips"], **ASKED, **more))


SCREENS = {
    "evaluate": lambda log: text.evaluation("b", cf.evaluate(log, "b", **ASKED)),
    "all candidates": lambda log: text.evaluation("b", cf.evaluate(log, "b", "paper", **ASKED), everything=True),
    "by several rewards": lambda log: text.rewards("b", cf.evaluate(log, "b", reward=["large", "small"], **ASKED)),
    "compare": lambda log: compare(log, LONG),
    "compare large": lambda log: compare(log, LONG[:4], reward="large", baseline=LONG[1]),
    "check": lambda log: text.check("b", cf.check(log, "b", ignore=ASKED["ignore"]), everything=True),
    "segments": lambda log: text.evaluation("b", cf.evaluate(log, "b", by=["age", "kind"], **ASKED)),
    "the log": lambda log: [details.contents({"reward": cf.evaluate(log, "b", ["ips"], progress=False).contents})],
}


@pytest.fixture
def show(monkeypatch, capsys):
    """Return a function that shows blocks at some width and returns the lines of the screen."""

    def at_width(width, blocks):
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        console.show(*blocks)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return at_width


@pytest.mark.parametrize("screen", SCREENS.values(), ids=SCREENS)
def test_nothing_is_cut_at_any_width(screen, log, show):
    blocks = screen(log)
    words = " ".join(show(900, blocks)).split()
    numbers = {word for word in words if re.fullmatch(r"[-+]?[\d,]+(\.\d+)?(e[-+]\d+)?", word)}
    assert len(numbers) > 4
    for width in (200, 80, 60, 30):
        lines = show(width, blocks)
        assert max(map(len, lines)) <= width
        assert width < 60 or "…" not in "".join(lines)
        assert numbers <= {*" ".join(lines).split()}


def test_segments_of_rare_rewards_have_a_line_each_at_80_columns(show):
    rng = np.random.default_rng(0)
    known = {"action": rng.integers(2, size=20_000), "reward": (rng.random(20_000) < 0.01).astype(float)}
    known |= {"propensity": np.full(20_000, 0.5), "device": rng.choice(["phone", "desktop"], 20_000)}
    known |= {"target": np.where(known["action"], 0.9, 0.1)}
    result = cf.evaluate(known, by="device", reward_model=None, progress=False)
    lines = show(80, list_segments(result.segmented, result.segments))
    cells = r"[\d,]+ 0\.\d{4,5} 0\.\d{4,5} +[+-]0\.\d{4,5} -0\.\d{4,5} to \+0\.\d{4,5} [+-]0\.\d{4,5} good"
    assert [line.split()[0] for line in lines if re.search(cells, line)] == [one.segment for one in result.segments]


def test_the_answer_is_on_the_first_screen(log, show):
    lines = show(80, SCREENS["evaluate"](log))
    words = [line.split()[0] for line in lines if line]
    wanted = ["b", "value", "the", "difference", "verdict", "because", "next"]
    assert sorted(wanted, key=words.index) == wanted
    assert words.index("next") < 15
    assert re.search(r"next step +Ship it: it would earn more than the log did", "\n".join(lines))


def test_every_reward_has_its_next_step_in_the_words_of_one_reward(log, show, tmp_path):
    found = cf.evaluate(log, "b", reward=["large", "small"], **ASKED)
    alone = {name: cf.evaluate(log, "b", reward=name, **ASKED) for name in found}
    screen = re.sub(r"\s+", " ", " ".join(show(80, text.rewards("b", found))))
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name, one in alone.items():
        sentence = one.next_step.sentence
        assert sentence == found[name].next_step.sentence
        assert f"{name}: {sentence}" in screen
        assert html.escape(sentence, quote=False) in found._repr_html_()
        assert html.escape(sentence, quote=False) in page


def test_names_that_differ_are_shown_different(log, show):
    blocks = compare(log, LONG)
    for width in (60, 80):
        lines = [line.split()[0] for line in show(width, blocks) if re.search(r"\.\.\..* (good|caution) ", line)]
        assert len(set(lines)) == len(lines) == len(LONG)


def test_a_terminal_without_unicode_gets_ascii(log, monkeypatch):
    blocks = SCREENS["evaluate"](log)
    for encoding, signs in {"ascii": "o[-]", "utf-8": "●├─┤"}.items():
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        console.show(*blocks)
        stream.flush()
        assert all(sign in stream.buffer.getvalue().decode(encoding) for sign in signs)


# the picture


def draw(low, value, high, mark, width=21):
    line = Line("a", value, "", Bounds(low, high))
    return Picture([line, Line("ends", 0.0, "", Bounds(0.0, 20.0))], mark).draw(line, width, ASCII)


def test_a_picture_has_everything_in_its_place():
    assert draw(4, 10, 14, mark=2) == "  : [-----o---]      "
    assert draw(4, 10, 14, mark=6) == "    [-+---o---]      "
    assert draw(4, 10, 14, mark=10) == "    [-----o---]      "
    assert draw(3, 3, 3, mark=5) == "   o :               "
    assert draw(-np.inf, 5, np.inf, mark=0) == "+----o--------------]"


def test_a_picture_of_equal_or_extreme_numbers():
    one = Line("a", 3.0, "3")
    assert Picture([one, one], 3.0).draw(one, 11, ASCII) == "     o     "
    huge = Line("b", 0.0, "0", Bounds(-1.7e308, 1.7e308))
    assert Picture([huge], 0.0).draw(huge, 11, ASCII) == "[----o----]"
