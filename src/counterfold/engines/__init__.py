"""Engines, one file each: where a log is read; `choose_engine` finds the right one."""

from counterfold.base import registry, validation
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.engines.base import Engine, Source
from counterfold.log.log import Log


def choose_engine(source: Source, name: str, pool: Pool) -> Engine:
    """Return the engine of a name, or the best one for the log if the name is "auto"."""
    known = registry.names("engines")
    validation.one_of(("auto", *known), engine=name)
    engines: dict[str, type[Engine]] = {one: registry.find("engines", one) for one in known}
    if name == "auto":
        ranked = sorted(engines.values(), key=lambda engine: engine.keeps_rows)  # memory takes what no other one does
        return next(engine for engine in ranked if engine.is_best_for(source)).of(source, pool)
    if not engines[name].can_read(source):
        able = " or ".join(repr(one) for one, engine in engines.items() if engine.can_read(source))
        what = "a log in memory"
        if not isinstance(source, Log):
            library = type(source.source).__module__.partition(".")[0]
            origin = "" if library == "builtins" else f" of {library}"
            what = f"a log that is a {type(source.source).__name__}{origin}"
        raise ParameterError(f"`engine` must be {able} for {what}, got {name!r}.")
    return engines[name].of(source, pool)
