"""Pictures of results on axes of matplotlib, one short file for each; the file's name is the picture's."""

from typing import TYPE_CHECKING, Any

from counterfold.base import messages, registry
from counterfold.base.errors import ParameterError
from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.plots.base import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = "report.plots"

DEFAULTS = {
    Evaluation: ("answer",),
    Comparison: ("compare",),
    RewardEvaluations: ("compare",),
    Diagnostics: ("weights",),
    Learned: ("contenders",),
    Policy: ("tree", "importance"),
}
"""The picture of each kind of result that is drawn if none is named: the first that can be, or the last."""


def build_all() -> list[Picture]:
    """Return every picture of this folder."""
    return [registry.find(FOLDER, name)() for name in registry.names(FOLDER)]


def draw(result: Any, name: str | None, ax: "Axes | None" = None) -> "Axes":
    """Draw a picture of a result on axes, or on those of a new figure, and return them."""
    picture = find_picture(result, name)
    try:
        from counterfold.report.plots import _axes
    except ImportError:
        raise ParameterError("plots need matplotlib: pip install 'counterfold[plot]'.") from None
    canvas = _axes.make_axes(picture.find_height(result)) if ax is None else _axes.require_axes(ax)
    picture.draw(result, canvas)
    return canvas


def find_picture(result: Any, name: str | None) -> Picture:
    """Return the picture of that name; refuse one that there is not, or that cannot be drawn of this result."""
    known = {picture.name: picture for picture in build_all()}
    if name is None:
        usual = DEFAULTS[type(result)]
        name = next((one for one in usual if known[one].find_obstacle(result) is None), usual[-1])
    if not isinstance(name, str) or name not in known:
        hint = messages.suggest(name, known) if isinstance(name, str) else ""
        raise ParameterError(f"`name` must be that of a picture, got {messages.shorten(name)}.{hint} {offer(result)}")
    why = known[name].find_obstacle(result)
    if why is not None:
        raise ParameterError(f"`{name}` cannot be drawn: {why}. {offer(result)}")
    return known[name]


def offer(result: Any) -> str:
    """Return a sentence on what can be drawn of a result."""
    names = [picture.name for picture in build_all() if picture.find_obstacle(result) is None]
    return f"What can be drawn here: {', '.join(names) or 'nothing'}."
