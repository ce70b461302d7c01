"""What benchmarks/scale.py measures: `workloads.py FOLDER JSON` does one piece of work and prints what it took.

A function for each kind of work gets all ready and returns what is to be timed, which returns facts worth keeping.
Modules are loaded, and the code is run once on a tiny log, before the clock starts.
"""

import atexit
import json
import resource
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

import counterfold as cf
from counterfold.base.threads import Pool, limit_blas
from counterfold.policies.given import as_target
from counterfold_lab.synthetic.file import Destination, write_log
from counterfold_lab.synthetic.generator import Synthetic
from measuring import TINY

SPARK = "local[2,4]"


def path_of(folder, log):
    """Return the file of a log, which says all that it was made from."""
    return Path(folder) / ("_".join(f"{name}-{int(value)}" for name, value in sorted(log.items())) + ".parquet")


def problem_of(log):
    return Synthetic(**{name: value for name, value in log.items() if name != "rows"})


def make(folder, log):
    """Write a log, unless it is there."""
    path = path_of(folder, log)

    def made():
        if not path.exists():
            write_log(problem_of(log), log["rows"], Destination(path))
        return {"bytes": path.stat().st_size}

    return made


def read(folder, log):
    """Read all columns with pyarrow, keeping nothing."""
    from pyarrow.dataset import dataset

    def all_of(which):
        return {"rows": sum(batch.num_rows for batch in dataset(path_of(folder, which)).to_batches())}

    all_of(TINY)
    return lambda: all_of(log)


def evaluate(folder, log, candidates, splits, targets=1, threads=None, engine="local"):
    """Evaluate from a file; logs of the weights alone are evaluated without a reward model."""
    selector = cf.OCV(splits=splits)

    def answers(which, names, **settings):
        scan = cf.LogScan(path_of(folder, which), ignore=problem_of(which).target_names)
        model = None if which.get("logged_only") else "ridge-per-action"
        wanted = dict(zip(names, names, strict=True))
        found = cf.evaluate(scan, wanted, candidates, selector, model, engine=engine, progress=False, **settings)
        return {"candidates": len(next(iter(found.values())).table)}

    answers(TINY, ["target"])
    names = problem_of(log).target_names[:targets]
    return lambda: answers(log, names, threads=threads)


def spark(folder, log, candidates, splits):
    """Do the same on Spark; the start of the session, and of its Python processes, is timed apart."""
    from cluster import session

    start, stack = time.perf_counter(), ExitStack()
    settings = {"spark__sql__execution__arrow__maxRecordsPerBatch": 10000, "spark__driver__memory": "2g"}
    stack.enter_context(session(SPARK, **settings))
    atexit.register(stack.close)
    work = evaluate(folder, log, candidates, splits, engine="spark")
    started = time.perf_counter() - start
    return lambda: work() | {"session_seconds": started}


def in_memory(log):
    """Return a log that was never in a file, and its target."""
    columns = problem_of(log).block(0, log["rows"]).columns
    context = np.column_stack([columns[name] for name in columns if name.startswith("x")])
    roles = {name: columns[name] for name in ("action", "reward", "propensity", "logging_probs")}
    return cf.Log(context=context, **roles), columns["target"]


def plain_dr(folder, log):
    """Compute one doubly robust estimate and its error with scikit-learn's Ridge for every action, and numpy."""
    from sklearn.linear_model import Ridge

    del folder

    def one(logged, target):
        every, x, r = np.arange(len(logged)), logged.context, logged.reward
        q = np.empty(target.shape)
        for action in range(target.shape[1]):
            mine = logged.action == action
            q[:, action] = Ridge(1e-3).fit(x[mine], r[mine]).predict(x)
        taken = every, logged.action
        terms = (target * q).sum(axis=1) + target[taken] / logged.propensity * (r - q[taken])
        return {"value": terms.mean(), "stderr": terms.std(ddof=1) / np.sqrt(len(terms))}

    one(*in_memory(TINY))
    data = in_memory(log)
    return lambda: one(*data)


def evaluate_in_memory(folder, log, candidates, splits, *, refit):
    """Evaluate a log in memory."""
    del folder

    def answer(logged, target):
        selector = cf.OCV(splits=splits, refit=refit)
        found = cf.evaluate(logged, target, candidates, selector, "ridge-per-action", progress=False)
        return {"candidates": len(found.table)}

    answer(*in_memory(TINY))
    data = in_memory(log)
    return lambda: answer(*data)


def joint_task():
    from naive_loop import ALPHA, data_like_optdigits, paper_candidates

    problem, data = data_like_optdigits(np.random.default_rng(0))
    rows = cf.Rows.of(problem.log, as_target(problem.target, problem.log), cf.RidgePerAction(ALPHA))
    return problem, data, paper_candidates(rows)


def choose(folder, validator, splits, *, refit, threads=None):
    """Score the candidates of the paper's joint task, from fresh rows."""
    from naive_loop import ALPHA

    del folder
    problem, _, candidates = joint_task()
    judge = {"ips": cf.IPS(), "dr": cf.DR()}[validator]

    def scored(count):
        rows = cf.Rows.of(problem.log, as_target(problem.target, problem.log), cf.RidgePerAction(ALPHA))
        selector = cf.OCV(judge, splits=count, refit=refit)
        losses = selector.losses(rows, candidates, np.random.default_rng(0), Pool(threads))
        return {"candidates": len(losses)}

    scored(2)
    return lambda: scored(splits)


def naive(folder, validator, splits, every):
    """Run the naive loop of the tests on every so many of the candidates; the seconds are scaled up."""
    import reference
    from naive_loop import ALPHA, STEP, pair

    del folder
    _, data, candidates = joint_task()
    judge = pair({"ips": cf.IPS(), "dr": cf.DR()}[validator])
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(data.r)) for _ in range(splits)]
    some = candidates[::every]

    def looped():
        with limit_blas():
            reference.algorithm_1(data, map(pair, some), judge, orders, ALPHA, STEP)
        return {"candidates": len(candidates), "scale": len(candidates) / len(some)}

    return looped


KINDS = {one.__name__: one for one in (make, read, evaluate, spark, plain_dr, evaluate_in_memory, choose, naive)}


def measured(folder, kind, **settings):
    """Return the seconds, the largest memory in MiB and the facts of one piece of work."""
    run = KINDS[kind](folder, **settings)
    start = time.perf_counter()
    facts = run()
    seconds = time.perf_counter() - start
    return {"seconds": seconds * facts.pop("scale", 1.0), "peak_mib": peak(), **facts}


def peak():
    """Return the most memory that this process had, in MiB.

    `ru_maxrss` alone would not do on Linux: it starts from what the parent had when it started this process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "VmHWM" in lines:
            return int(lines["VmHWM"].split()[0]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    sys.path[:0] = [str(root), str(root / "tests" / "support")]
    print(json.dumps(measured(sys.argv[1], **json.loads(sys.argv[2]))), flush=True)
