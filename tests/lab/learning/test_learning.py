"""The benchmark of learning: what policies are worth is that of a loop."""

import json

import numpy as np
import pytest

import counterfold as cf
from counterfold_lab.learning import references, results
from counterfold_lab.learning.experiment import KNOWN, LearningExperiment, LearningTask, list_tasks
from counterfold_lab.learning.worlds import DatasetWorld
from counterfold_lab.paper.datasets import NAMES, Dataset
from counterfold_lab.selection.bandits import FAMILIES


def test_tasks_are_of_one_part_and_every_family_is_known():
    held = list_tasks(["binary", "bands"], 6, [500, 2000], "held")
    assert [task.number for task in held[:4]] == [1, 2, 4, 5]
    assert len(held) == 16
    assert set(KNOWN) - set(NAMES) < set(FAMILIES)


def test_problems_of_two_families_or_numbers_have_nothing_in_common():
    experiment = LearningExperiment()
    tasks = [LearningTask(family, number, 50) for family in ("binary", "continuous") for number in (0, 1)]
    contexts = [experiment.draw_world(task).log.context for task in tasks]
    assert len({context[0, 0] for context in contexts}) == 4


def test_a_policy_is_worth_what_a_loop_says():
    world = LearningExperiment().draw_world(LearningTask("continuous", 0, 100))
    probs = np.random.default_rng(0).dirichlet(np.ones(len(world.log.actions)), len(world.contexts))
    total = 0.0
    for context in world.contexts[:: len(world.contexts) // 8]:
        scores = world.bandit.draw_scores(np.random.default_rng(world.seed))(context[None])
        total += float(world.bandit.means(scores[0]).mean())
    few = [float(row.mean()) for row in world.means[:: len(world.contexts) // 8]]
    assert total == pytest.approx(sum(few))
    earned = [sum(p * q for p, q in zip(*both, strict=True)) for both in zip(probs, world.means, strict=True)]
    assert world.value(probs) == pytest.approx(sum(earned) / len(earned))


def test_a_dataset_is_a_world_whose_truth_is_a_loop_over_its_rows():
    rng = np.random.default_rng(0)
    labels = np.array(["blue", "green", "red"])[rng.integers(3, size=90)]
    dataset = Dataset("colours", rng.normal(size=(90, 2)) + (labels == "red")[:, None], labels)
    world = DatasetWorld(dataset, 1.0, 400, seed=5)
    total = 0.0
    for probs, label in zip(world.logging_probs, labels, strict=True):
        total += probs[["blue", "green", "red"].index(label)]
    assert world.logger_value == pytest.approx(total / 90)
    assert len(world.log) == 400
    for row in range(0, 400, 40):
        place = int(np.flatnonzero((world.contexts == world.log.context[row]).all(axis=1))[0])
        assert world.log.reward[row] == (world.log.actions[world.log.action[row]] == labels[place])
        np.testing.assert_array_equal(world.log.logging_probs[row], world.logging_probs[place])
    better = DatasetWorld(dataset, 3.0, 400, seed=5)
    assert better.logger_value > world.logger_value


@pytest.mark.parametrize("learn", [references.learn_by_ipw, references.learn_by_model, references.learn_by_econml])
def test_references_find_a_gain_that_is_easy_to_see(learn):
    rng = np.random.default_rng(0)
    context, action = rng.normal(size=(600, 2)), rng.integers(2, size=600)
    reward = np.where(action == 1, context[:, 0], -context[:, 0])
    log = cf.Log(context=context, action=action, reward=reward, propensity=np.full(600, 0.5))
    decided = learn(log, 0)(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    np.testing.assert_array_equal(decided, [[0, 1], [1, 0]])


def make_row(method, value, family="binary", **more):
    usual = {"family": family, "rows": 500, "method": method, "value": value, "logged": 1.0, "scale": 2.0}
    return usual | {"beats_log": True, "low": None, "high": 3.0, "own": value, "verdict": "good"} | more


def test_gains_and_harm_are_those_of_a_loop():
    rows = [
        make_row("learn", 2.0),
        make_row("learn", 0.5, "bands"),
        make_row("greedy DM", 1.0),
        make_row("logger", 1.0),
    ]
    found = {(line.family, line.method): line for line in results.gains(rows)}
    overall = found["all families", "learn"]
    assert (overall.problems, overall.gain, overall.worse) == (2, 0.125, 0.5)
    assert found["binary", "learn"].gain == 0.5
    assert found["binary", "greedy DM"].worse == 0
    assert ("binary", "logger") not in found


def test_intervals_hold_or_not():
    kept = make_row("learn", 1.0, beats_log=False, low=0.0, verdict="caution")
    rows = [make_row("learn", 2.0), make_row("learn", 4.0, low=0.0), kept]
    found = {line.answers_of: line for line in results.holdings(rows)}
    assert (found["all"].answers, found["all"].share) == (3, pytest.approx(2 / 3))
    assert found["beats the log"].share == 0.5
    assert (found["has a good verdict"].answers, found["has a good verdict"].share) == (2, 0.5)
    assert found["keeps the log"].width == pytest.approx(1.5)


def test_the_command_runs(run, tmp_path):
    options = "--families", "binary", "--problems", "1", "--part", "all", "--rows", "60", "--jobs", "1"
    code, out, _ = run("bench", "learning", "--out", "found", *options, "--json")
    assert code == 0
    answer = json.loads(out)
    assert {line["method"] for line in answer["gains"]} >= {"learn", "IPW learner", "greedy DM", "best"}
    best = next(line["gain"] for line in answer["gains"] if line["method"] == "best")
    assert all(line["gain"] <= best + 1e-9 for line in answer["gains"])
    written = {tmp_path / one for one in answer["files"]}
    assert written == {*(tmp_path / "found").iterdir()} - {tmp_path / "found" / "learning.jsonl"}
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = run("bench", "learning", "--out", "other", "--families", "paper", "--data", str(empty))
    assert (code, "`ecoli` needs its datasets" in err) == (2, True)
    code, _, err = run("bench", "learning", "--out", "other", "--families", "binry")
    assert (code, "binary" in err) == (2, True)
