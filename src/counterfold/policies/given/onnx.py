"""ONNX: a model in a file of ONNX, run by onnxruntime."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError, ModelError, ParameterError, blame
from counterfold.base.messages import list_names, shorten, show
from counterfold.base.notation import read_list, unquote
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.log.log_checks import ByLabel, check_matrix, order_policy
from counterfold.policies.given import _features
from counterfold.policies.given._files import read_model_file
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Reads, Target, TargetForm

INPUTS: Mapping[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
"""The types of inputs that can be fed, and what numpy calls them."""


@dataclass(frozen=True, eq=False)
class ONNX(TargetForm):
    """The policy of a classifier in a file of ONNX, such as skl2onnx or PyTorch write; needs the extra `onnx`.

    A single input (n x d) is given the context, or the `columns` that are named here. Several inputs are columns of the
    table, by their names. Of the outputs, maps from label to probability are taken first, then a matrix of
    probabilities in the order of the actions, then labels.
    """

    path: str | PathLike[str]
    columns: Sequence[str] | None = None
    values: Mapping[str, Any] | None = None
    syntax = "onnx:FILE:columns=COLUMNS"
    takes = {"path": unquote, "columns": read_list}

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, PathLike)):
            raise ParameterError(f"`path` must be the path of a file, got {shorten(self.path)}.")
        object.__setattr__(self, "columns", _features.check_names(self.columns))

    @cached_property
    def content(self) -> bytes:
        """Return the bytes of the file, which travel to Spark's workers."""
        return read_model_file(self.path)

    @cached_property
    def session(self) -> Any:
        """Return what runs the model; it uses one thread, as engines work on several batches at a time."""
        try:
            import onnxruntime
        except ModuleNotFoundError:
            raise ParameterError("a file of ONNX needs onnxruntime: pip install 'counterfold[onnx]'.") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        with blame(DataError, "`{}` must be a file of ONNX, but reading it", show(self.path)):
            return onnxruntime.InferenceSession(self.content, options, providers=["CPUExecutionProvider"])

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, **{name: one for name, one in vars(self).items() if name != "session"}}

    @property
    def names(self) -> Sequence[str] | None:
        """Return the columns that the model looks at, unless that is the context."""
        inputs = self.session.get_inputs()
        strange = [one for one in inputs if one.type not in INPUTS]
        if strange or not inputs:
            got = f"`{show(strange[0].name)}` of type {strange[0].type}" if strange else "none"
            raise DataError(f"the inputs of `{show(self.path)}` must be numbers or texts, got {got}.")
        return [one.name for one in inputs] if len(inputs) > 1 else self.columns

    @property
    def is_matrix(self) -> bool:
        """Say whether the model takes one matrix of numbers."""
        inputs = self.session.get_inputs()
        return len(inputs) == 1 and inputs[0].type != "tensor(string)"

    @property
    def reads(self) -> tuple[Reads, ...]:
        return _features.list_reads(self.names, _features.NUMBERS if self.is_matrix else _features.RAW)

    def uses_context(self, *, has_table: bool) -> bool:
        return self.names is None or not has_table

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        filled = replace(self, values=None if self.names is None else {name: values[name] for name in self.names})
        vars(filled).update(content=self.content, session=self.session)
        return filled

    def feed(self, log: Log) -> dict[str, Any]:
        """Return what every input of the model is given."""
        inputs, names = self.session.get_inputs(), self.names
        if len(inputs) > 1 and names is not None:
            frame = _features.make_frame(names, log, self.values)
            return {one.name: frame[[one.name]].to_numpy().astype(INPUTS[one.type]) for one in inputs}
        one = inputs[0]
        seen: Any = _features.make_matrix(names, log, self.values) if self.is_matrix or names is None else None
        seen = _features.make_frame(names or (), log, self.values).to_numpy() if seen is None else seen
        wanted = one.shape[-1] if one.shape else None
        if isinstance(wanted, int) and wanted != seen.shape[1]:
            got = f"{seen.shape[1]}: {list_names(names or log.context_names)}" if seen.shape[1] else "none"
            way = "Name them in the order of the fit: `cf.ONNX(path, columns=[...])`"
            raise DataError(f"`target` takes {wanted} columns, and the context must be these, got {got}. {way}.")
        return {one.name: seen.astype(INPUTS[one.type])}

    def resolve(self, log: Log, check: Checker) -> Target:
        name, outputs = show(self.path), self.session.get_outputs()
        maps = [one.name for one in outputs if one.type.startswith("seq(map(")]
        matrices = [one.name for one in outputs if "float" in one.type or "double" in one.type]
        wanted = [*maps, *(one for one in matrices if one not in maps), outputs[0].name][0]
        with blame(ModelError, "the model `{}`, which is the target,", name):
            (found,) = self.session.run([wanted], self.feed(log))
        if not maps and not matrices:
            return Actions(np.asarray(found).reshape(-1)).resolve(log, check)
        check = check.rename("target", f"by output `{wanted}` of `{name}`")
        matrix = check_matrix("target", stack_maps(found) if maps else found, len(log), check)
        return Target.of(order_policy("target", matrix, log.known_actions, check), log)


def stack_maps(maps: Sequence[Mapping[Any, float]]) -> ByLabel:
    """Return maps from label to probability, which name the same labels in every row, as a column for each label."""
    labels = tuple(maps[0]) if maps else ()
    return ByLabel(tuple(map(str, labels)), np.array([[one[label] for label in labels] for one in maps]))
