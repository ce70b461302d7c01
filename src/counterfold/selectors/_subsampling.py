"""Subsampling rules: networks that say how likely a logged row goes to the target's part, many trained at once.

All replicates are one batch of networks, one row of a matrix of parameters each, and one pass serves all actions. A
replicate draws from its own streams only, so it learns the same alone and in company.

This module imports numpy and torch alone: `pasif.py` imports it when first needed, and the benchmark wherever torch is.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = TypeVar("Array", NDArray[Any], Tensor)
Floats = NDArray[np.float64]
Samples = Sequence[NDArray[np.intp]]
Streams = Sequence[np.random.Generator]

HIDDEN = 100
"""The neurons of each of the two hidden layers."""

DROPPED = 51
"""Of the 256 values of a random byte, those that drop a neuron: 20 % within a tenth of a percent."""

LARGEST_LOGIT = 20.0
"""Keeps probabilities inside (2e-9, 1 - 2e-9), so that odds can be divided and squared in single precision."""

LARGEST_WEIGHT = 1e7
SMALLEST_SHARE = 1e-5
BALANCE, STRICT_BALANCE = 100.0, 1000.0
"""What a wrong split ratio of a row costs, and what it does while the mean ratio is beyond the tolerance."""

PROGRESS = 1e-3
"""An epoch counts as better when its loss is lower by more than this."""


class Training(NamedTuple):
    """How a rule is trained; the fields are those of `PASIF`."""

    ratio: float
    tolerance: float
    epochs: int
    patience: int
    batch: int
    rate: float


class TrainingRows(NamedTuple, Generic[Array]):
    """Scaled context (n x d), actions, weights and logging probabilities (n x A); in minibatches, replicates first."""

    context: Array
    actions: Array
    weights: Array
    probs: Array


Minibatch = TrainingRows[Tensor]
Step = Callable[[Minibatch, Tensor], Tensor]
"""Trains networks on a minibatch, with the noise of dropout, and returns the loss of each."""


def rules(
    logged: TrainingRows[NDArray[Any]], samples: Samples, streams: Streams, training: Training, device: str = "cpu"
) -> list[Floats]:
    """Return per replicate the probability of every action of its sampled rows to go to the target's part (n x A).

    They come from the best epoch's network with the statistics of the whole sample and without dropout.
    """
    context, probs = logged.context, logged.probs
    start = [draw_parameters(context.shape[1], probs.shape[1], training.ratio, stream) for stream in streams]
    networks = Networks(torch.tensor(np.stack(start), dtype=torch.float32, device=device))
    trained = train(networks, Batches(logged, samples, streams, training.batch, device), training)
    found = []
    for flat, sample in zip(trained.double()[:, None], samples, strict=True):
        rows = torch.tensor(context[sample], device=device)[None]
        found.append(torch.sigmoid(logits(flat, rows, probs.shape[1]))[0].cpu().numpy())
    return found


def train(networks: "Networks", batches: "Batches", training: Training) -> Tensor:
    """Return the parameters of each network after its best epoch (replicates x parameters)."""
    result, take_step = networks.best.clone(), choose_step(networks, training)
    place = torch.arange(len(result), device=result.device)
    for _ in range(training.epochs):
        losses = [take_step(batch, batches.noise()) for batch in batches.epoch()]
        going = networks.judge(torch.stack(losses).mean(dim=0)) < training.patience
        if not going.all():
            result[place] = networks.best
            place = place[going]
            networks.keep(going)
            batches.keep(going.tolist())
            take_step = choose_step(networks, training)
        if len(place) == 0:
            break
    result[place] = networks.best
    return result


def choose_step(networks: "Networks", training: Training) -> Step:
    """Return the function that trains these networks on one minibatch."""
    return Recording(networks, training) if networks.flat.is_cuda else partial(take_one_step, networks, training)


def take_one_step(networks: "Networks", training: Training, batch: Minibatch, noise: Tensor) -> Tensor:
    """Take a step of Adam, and return each network's loss before it."""
    flat = networks.flat.detach().requires_grad_()
    loss = objective(logits(flat, batch.context, batch.probs.shape[2], noise), batch, training)
    networks.step(torch.autograd.grad(loss.sum(), flat)[0], training.rate)
    return loss.detach()


class Recording:
    """The steps of some networks on a GPU, which are recorded once and then replayed.

    A step is a hundred small kernels: to start them one by one takes ten times as long as they do.
    """

    def __init__(self, networks: "Networks", training: Training) -> None:
        """Start with nothing recorded."""
        self.take_step = partial(take_one_step, networks, training)
        self.inputs: list[Tensor] = []
        self.graph = torch.cuda.CUDAGraph()
        self.loss: Tensor | None = None

    def __call__(self, batch: Minibatch, noise: Tensor) -> Tensor:
        """Take a step; the first one is taken as it is, which loads what the GPU must have before it can record."""
        if not self.inputs:
            self.inputs = [one.clone() for one in (*batch, noise)]
            return self.take_step(batch, noise)
        for mine, given in zip(self.inputs, (*batch, noise), strict=True):
            mine.copy_(given)
        if self.loss is None:
            with torch.cuda.graph(self.graph):
                self.loss = self.take_step(TrainingRows(*self.inputs[:-1]), self.inputs[-1])
        self.graph.replay()
        return self.loss.clone()


def objective(logit: Tensor, batch: Minibatch, training: Training) -> Tensor:
    """Return per replicate how far surrogate weights are from the weights, plus the price of wrong split ratios.

    Every row pays for its own: where ratios depend on the context, both parts are of different contexts, and the value
    in one is not that in the other.
    """
    share = (batch.probs * torch.sigmoid(logit)).sum(dim=2).clamp(SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    odds = logit.gather(2, batch.actions[:, :, None])[:, :, 0].exp()
    misfit = (odds * (1 - share) / share - batch.weights).square().mean(dim=1)
    off = share - training.ratio
    price = torch.where(off.mean(dim=1).abs() > training.tolerance, STRICT_BALANCE, BALANCE)
    return misfit + price * off.square().mean(dim=1)


def draw_parameters(columns: int, actions: int, ratio: float, stream: np.random.Generator) -> Floats:
    """Return the first parameters of one network, which sends the wanted share of rows to the target's part."""
    ones, zeros = np.ones(HIDDEN), np.zeros(HIDDEN)
    first, second, last = (
        stream.uniform(-1, 1, size=inputs * outputs) / math.sqrt(inputs or 1)
        for inputs, outputs in ((columns, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, actions))
    )
    bias = np.full(actions, math.log(ratio / (1 - ratio)))
    return np.concatenate([first, ones, zeros, second, ones, zeros, last, bias])


def logits(flat: Tensor, context: Tensor, actions: int, noise: Tensor | None = None) -> Tensor:
    """Return the log odds of every action (replicates x rows x actions), in one pass for all of them."""
    columns, count = context.shape[2], len(flat)
    sizes = [columns * HIDDEN, HIDDEN, HIDDEN, HIDDEN * HIDDEN, HIDDEN, HIDDEN, HIDDEN * actions, actions]
    first, scale, shift, second, scale_2, shift_2, last, bias = torch.split_with_sizes(flat, sizes, dim=1)
    hidden = torch.bmm(first.view(count, HIDDEN, columns), context.mT)
    hidden = activate(hidden, scale, shift, None if noise is None else noise[:, 0])
    hidden = torch.bmm(second.view(count, HIDDEN, HIDDEN), hidden)
    hidden = activate(hidden, scale_2, shift_2, None if noise is None else noise[:, 1])
    logit = torch.baddbmm(bias[:, None], hidden.mT, last.view(count, HIDDEN, actions))
    return logit.clamp(-LARGEST_LOGIT, LARGEST_LOGIT)


def activate(hidden: Tensor, scale: Tensor, shift: Tensor, noise: Tensor | None) -> Tensor:
    """Return a layer (replicates x neurons x rows) after batch normalisation, ReLU and dropout."""
    layer = hidden.reshape(1, -1, hidden.shape[2])  # each replicate's neurons are channels of their own
    normal = torch.batch_norm(
        layer, scale.flatten(), shift.flatten(), None, None, training=True, momentum=0.0, eps=1e-5, cudnn_enabled=False
    )
    positive = torch.relu(normal).view(hidden.shape)
    return positive if noise is None else positive * ((noise >= DROPPED) * (256 / (256 - DROPPED)))


class Networks:
    """The parameters of all networks, Adam's memory, and the best epoch of each so far."""

    def __init__(self, flat: Tensor) -> None:
        """Start from parameters (replicates x parameters)."""
        self.flat, self.best = flat, flat.clone()
        self.mean, self.square = torch.zeros_like(flat), torch.zeros_like(flat)
        self.steps = torch.zeros((), dtype=torch.float64, device=flat.device)
        self.lowest = torch.full_like(flat[:, 0], torch.inf)
        self.stale = torch.zeros_like(flat[:, 0])

    def step(self, gradient: Tensor, rate: float) -> None:
        """Take a step of Adam, in place, as what is recorded must stay where it is."""
        self.steps += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        spread = self.square.sqrt().div_((1 - 0.999**self.steps).sqrt()).add_(1e-8)
        self.flat -= self.mean / spread * (rate / (1 - 0.9**self.steps))

    def judge(self, losses: Tensor) -> Tensor:
        """Remember the networks that got better, and return for how many epochs each has not."""
        better = self.lowest - losses > PROGRESS
        self.lowest = torch.where(better, losses, self.lowest)
        self.best = torch.where(better[:, None], self.flat, self.best)
        self.stale = torch.where(better, 0.0, self.stale + 1)
        return self.stale

    def keep(self, going: Tensor) -> None:
        """Leave out the networks that are done."""
        for name in ("flat", "best", "mean", "square", "lowest", "stale"):
            setattr(self, name, getattr(self, name)[going])


class Batches:
    """Minibatches and dropout noise of all replicates, each replicate's from its own streams.

    An epoch is a random order of the sample, cut into the fewest batches of equal size that are not above the wanted
    one. What is missing for that, or in a sample of whole groups, comes from the start of the order again, so that no
    batch is left with one row.
    """

    def __init__(
        self, logged: TrainingRows[NDArray[Any]], samples: Samples, streams: Streams, batch: int, device: str
    ) -> None:
        """Move the rows to the device, once."""
        numbers = logged.context, logged.weights.clip(max=LARGEST_WEIGHT), logged.probs
        context, weights, probs = (torch.tensor(one, dtype=torch.float32, device=device) for one in numbers)
        self.rows = TrainingRows(context, torch.tensor(logged.actions, device=device), weights, probs)
        self.samples, self.streams = list(samples), list(streams)
        self.count = math.ceil(len(weights) / batch)
        self.size = math.ceil(len(weights) / self.count)
        self.dropout = [torch.Generator(device).manual_seed(int(stream.integers(2**63))) for stream in streams]
        self.whole: Minibatch | None = None

    def epoch(self) -> Iterator[Minibatch]:
        """Yield the batches of one epoch; a sample that is one batch needs no order and is looked up once."""
        if self.whole:
            yield self.whole
            return
        total = self.count * self.size
        pairs = zip(self.streams, self.samples, strict=True)
        orders = np.stack([np.resize(stream.permutation(sample), total) for stream, sample in pairs])
        index = torch.tensor(orders, device=self.rows.weights.device)
        for part in index.view(-1, self.count, self.size).unbind(dim=1):
            batch = TrainingRows(*(column[part] for column in self.rows))
            if self.count == 1 and all(len(sample) == total for sample in self.samples):
                self.whole = batch
            yield batch

    def noise(self) -> Tensor:
        """Return a random byte per replicate, hidden layer, neuron and row."""
        words = 2 * HIDDEN * self.size // 8
        noise = torch.empty(len(self.dropout), words, dtype=torch.int64, device=self.rows.weights.device)
        for row, generator in zip(noise, self.dropout, strict=True):
            row.random_(-(2**63), None, generator=generator)
        return noise.view(torch.uint8).view(-1, 2, HIDDEN, self.size)

    def keep(self, going: Sequence[bool]) -> None:
        """Leave out the replicates that are done."""
        for name in ("samples", "streams", "dropout"):
            setattr(self, name, [one for one, stays in zip(getattr(self, name), going, strict=True) if stays])
        if self.whole:
            mask = torch.tensor(going, device=self.rows.weights.device)
            self.whole = TrainingRows(*(column[mask] for column in self.whole))
