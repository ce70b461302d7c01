"""Traces of a router of language models: one request per line, with the model that answered it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from counterfold.io.formats._events import OUTCOME, WHEN, Events, Line
from counterfold.io.formats._features import Flat, parse_object, read_number
from counterfold.io.formats._parsed import Decision
from counterfold.io.formats.base import Note

PREFIX, FEATURES, MODEL = "router.", "features.", "gen_ai.request.model"

OTHER = Note(
    "{count} lines name no model, as other spans of a trace, and were skipped", "nothing, if they are no requests"
)
UNJUDGED = Note(
    "{count} requests have no score and were skipped",
    "make sure that requests were chosen for judging by chance, and not by their model or their answer",
)


@dataclass(frozen=True)
class RouterTraces(Events):
    """One request per line: the model, its probability, score and cost, and features of the prompt.

    The reward is the score, unless you name another one, such as `score - 100 * cost`. Fields are those of the line
    itself, or attributes that begin with `router.`, as in spans of OpenTelemetry.
    """

    signs = (("model", "score"), ("name", "attributes"))
    no_context = MappingProxyType({"score": OUTCOME, "cost": OUTCOME, "timestamp": WHEN})

    def decide(self, lines: Iterable[Line]) -> Iterator[Decision | Note]:
        for line in lines:
            if line.text:
                request = read_fields(parse_object(line), line)
                model = request.get("model")
                if model is None or request.get("score") is None:
                    yield OTHER if model is None else UNJUDGED
                else:
                    yield self._make_decision(str(model), request, line)

    def _make_decision(self, model: str, request: Mapping[str, Any], line: Line) -> Decision:
        if isinstance(request["score"], bool):  # a thumb, or a test that passed
            request = {**request, "score": int(request["score"])}
        score, cost, probability = (
            None if request.get(name) is None else read_number(request[name], name, line)
            for name in ("score", "cost", "probability")
        )
        probs = read_models(request, line)
        numbers, words = Flat().add_all(list_features(request, line))
        known, when = {"score": score, "cost": cost}, request.get("timestamp")
        return Decision(
            model,
            score,
            probability,
            probs,
            None if probs is None else list(probs),
            embedding=read_vector(request.get("embedding"), line),
            numbers=numbers | {name: value for name, value in known.items() if value is not None},
            words=words | ({"timestamp": when} if isinstance(when, str) else {}),
        )


def read_fields(found: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """Return the fields of a request, wherever they are: in the line itself, or in its attributes."""
    attributes = found.get("attributes")
    if attributes is None:
        return dict(found)
    if isinstance(attributes, list):
        attributes = dict(read_attribute(one, line) for one in attributes)
    if not isinstance(attributes, dict):
        raise line.error("`attributes` must be an object, or a list of keys and values")
    nested = attributes.get(PREFIX.rstrip("."))
    own = {key.removeprefix(PREFIX): value for key, value in attributes.items() if key.startswith(PREFIX)}
    return {"model": attributes.get(MODEL)} | (nested if isinstance(nested, dict) else {}) | own


def read_attribute(one: Any, line: Line) -> tuple[str, Any]:
    """Return the key and the value of an attribute, as OpenTelemetry writes them in JSON."""
    if not isinstance(one, dict) or not isinstance(one.get("key"), str):
        raise line.error("`attributes` must be objects with `key` and `value`")
    return one["key"], read_typed(one.get("value"))


def read_typed(value: Any) -> Any:
    """Return a value of OpenTelemetry, which tells its type: {"doubleValue": 0.5}."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind == "arrayValue":
        return [read_typed(one) for one in (inner or {}).get("values", ())]
    if kind == "kvlistValue":
        return {one.get("key"): read_typed(one.get("value")) for one in (inner or {}).get("values", ())}
    return int(inner) if kind == "intValue" and str(inner).lstrip("-").isdigit() else inner


def read_models(request: Mapping[str, Any], line: Line) -> dict[str, float] | None:
    """Return the probability of every model: `models` from model to probability, or beside a list `probabilities`."""
    models, probs = request.get("models"), request.get("probabilities")
    if isinstance(models, list):
        if not isinstance(probs, list) or len(probs) != len(models) or len(set(map(str, models))) < len(models):
            raise line.error("`models` must be different, with as many `probabilities`")
        models = dict(zip(map(str, models), probs, strict=True))
    models = probs if models is None else models
    if models is None:
        return None
    if not isinstance(models, dict):
        raise line.error("`models` must be an object from model to probability, or a list")
    return {str(model): read_number(one, "models", line) for model, one in models.items()}


def list_features(request: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """Return the features of the prompt: those of `features`, or all that are called `features.NAME`."""
    inner = request.get("features") or {}
    if not isinstance(inner, dict):
        raise line.error("`features` must be an object")
    own = {name.removeprefix(FEATURES): value for name, value in request.items() if name.startswith(FEATURES)}
    return {name: value for name, value in (inner | own).items() if name not in RouterTraces.no_context}


def read_vector(value: Any, line: Line) -> Sequence[float] | None:
    """Return the numbers of an embedding."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise line.error("`embedding` must be a list of numbers")
    return [read_number(one, "embedding", line) for one in value]
