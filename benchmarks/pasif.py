"""Training PAS-IF's subsampling rules: one pass for all actions and all replicates, against the loop of the original.

The loop trains one replicate after another with a `torch.nn.Sequential` on (context, action), which needs one pass for
the logged actions and one for every action. Both have the same layers, loss, optimiser, minibatches of at most 1,000
rows and number of epochs, without early stopping, and both get all cores or the GPU. They are timed in one run, after a
short run to warm up: the figure to trust is the ratio. The last column is the mean squared misfit of the surrogate
weights that come out, without dropout; weights of 1 would leave the variance of the weights, printed first.

Needs numpy and torch alone, so it runs on a bare GPU machine.
"""

import argparse
import importlib.util
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import nn

SOURCE = Path(__file__).parents[1] / "src" / "counterfold" / "selectors" / "_subsampling.py"
TOGETHER = 2  # as in the selector, on processors
COLUMNS = 8


def loaded(path):
    """Return a module from its file: importing the package would need what the package needs."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


subsampling = loaded(SOURCE)


def logged_rows(rng, rows, actions):
    """Return rows whose logging policy is flat and whose target prefers the action that a linear score points to."""
    x = rng.normal(size=(rows, COLUMNS))
    scores = x @ rng.normal(size=(COLUMNS, actions)) / np.sqrt(COLUMNS)
    logging, target = (np.exp(beta * scores) for beta in (0.2, 1.0))
    logging, target = (policy / policy.sum(axis=1, keepdims=True) for policy in (logging, target))
    taken = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    weights = (target / logging)[np.arange(rows), taken]
    return subsampling.TrainingRows(x, taken, weights, logging)


def settings(epochs):
    """Return the defaults of the selector, without early stopping."""
    return subsampling.Training(ratio=0.2, tolerance=0.02, epochs=epochs, patience=epochs, batch=1000, rate=1e-3)


def drawn(logged, replicates):
    streams = [np.random.default_rng(seed) for seed in range(replicates)]
    return streams, [stream.integers(len(logged.weights), size=len(logged.weights)) for stream in streams]


def together(logged, replicates, training, device):
    """Return the probabilities of all replicates, trained as the selector does."""
    streams, samples = drawn(logged, replicates)
    if device == "cuda":
        return subsampling.rules(logged, samples, streams, training, device)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    parts = [slice(start, start + TOGETHER) for start in range(0, replicates, TOGETHER)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(lambda p: subsampling.rules(logged, samples[p], streams[p], training, device), parts))
    torch.set_num_threads(before)
    return [rho for part in found for rho in part]


def one_by_one(logged, replicates, training, device):
    """Return the same from a loop over replicates, minibatches and actions."""
    torch.manual_seed(0)
    return [looped(logged, sample, training, device) for sample in drawn(logged, replicates)[1]]


def looped(logged, sample, training, device):
    count = logged.probs.shape[1]
    network = nn.Sequential(
        *layer(COLUMNS + count, 100), *layer(100, 100), nn.Linear(100, 1), nn.Sigmoid(), nn.Flatten(0)
    ).to(device)
    with torch.no_grad():
        network[8].bias.fill_(np.log(training.ratio / (1 - training.ratio)))
    adam = torch.optim.Adam(network.parameters(), lr=training.rate)
    x, probs, weights = (
        torch.tensor(part[sample], dtype=torch.float32, device=device)
        for part in (logged.context, logged.probs, logged.weights)
    )
    taken = torch.tensor(logged.actions[sample], device=device)
    for _ in range(training.epochs):
        for part in torch.randperm(len(x), device=device).chunk(-(-len(x) // training.batch)):
            adam.zero_grad()
            loss(network, x[part], taken[part], weights[part], probs[part], training).backward()
            adam.step()
    network.eval()
    with torch.no_grad():
        return np.stack([asked(network, x, action, count).double().cpu().numpy() for action in range(count)], axis=1)


def layer(inputs, outputs):
    return nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU(), nn.Dropout(0.2)


def asked(network, x, action, count):
    """Return the probability of one action in all rows."""
    code = torch.zeros(len(x), count, device=x.device)
    code[:, action] = 1.0
    return network(torch.cat([x, code], dim=1))


def loss(network, x, taken, weights, probs, training):
    count = probs.shape[1]
    rho = network(torch.cat([x, nn.functional.one_hot(taken, count).float()], dim=1))
    share = sum(probs[:, action] * asked(network, x, action, count) for action in range(count)).clamp(1e-5, 1 - 1e-5)
    off = share.mean() - training.ratio
    price = torch.where(off.abs() > training.tolerance, 1000.0, 0.0)
    return (rho / (1 - rho) * (1 - share) / share - weights).square().mean() + price * off.square()


def misfit(logged, sample, rho):
    share = (logged.probs[sample] * rho).sum(axis=1)
    mine = rho[np.arange(len(sample)), logged.actions[sample]]
    return np.mean((mine / (1 - mine) * (1 - share) / share - logged.weights[sample]) ** 2)


def measured(train, logged, replicates, training, device):
    """Return the seconds and the mean misfit, after a short run to warm up."""
    train(logged, replicates, settings(epochs=3), device)
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    rules = train(logged, replicates, training, device)
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    samples = drawn(logged, replicates)[1]
    return seconds, np.mean([misfit(logged, sample, rho) for sample, rho in zip(samples, rules, strict=True)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    for name, default in {"rows": 700, "actions": 10, "replicates": 10, "epochs": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    given = parser.parse_args()
    logged = logged_rows(np.random.default_rng(0), given.rows, given.actions)
    training = settings(given.epochs)
    device = torch.cuda.get_device_name() if given.device == "cuda" else f"{len(os.sched_getaffinity(0))} cores"
    print(
        f"{given.rows} rows, {given.actions} actions, {given.replicates} replicates, {given.epochs} epochs, {device}, "
        f"torch {torch.__version__}; variance of the weights {logged.weights.var():.3f}"
    )
    forms = {"loop over replicates and actions": one_by_one, "counterfold": together}
    results = {name: measured(train, logged, given.replicates, training, given.device) for name, train in forms.items()}
    slow = results["loop over replicates and actions"][0]
    print(f"{'':34}{'seconds':>10}{'times faster':>15}{'misfit':>10}")
    for name, (seconds, left) in results.items():
        print(f"{name:34}{seconds:10.2f}{slow / seconds:15.1f}{left:10.3f}")


if __name__ == "__main__":
    main()
