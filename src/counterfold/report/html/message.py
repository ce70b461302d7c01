"""The message of a report: what somebody must know who has not seen it, ready to be pasted."""

from importlib.metadata import version

from counterfold.base import messages
from counterfold.base.questions import ask
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sentences import tell, tell_best, tell_doubt, tell_interval


def write_message(report: Report) -> str:
    """Return the message: of several policies the choice, the first one in full, and a line for each of the next."""
    best, origin = tell_best(report.cases), f"({describe_origin(report)})"
    if not best:
        return "\n\n".join([*map(summarise, report.told), ask(), origin])
    others = [tell_briefly(case) for case in report.told[1:]]
    rest = len(report.cases) - len(report.told)
    others += [f"{rest} more policies are in the report."] if rest else []
    lead = "\n".join([best, *list_rules(report.first)])
    return "\n\n".join(filter(None, [lead, summarise(report.first), "\n".join(others), ask(), origin]))


def list_rules(case: Case) -> list[str]:
    """Return the guards that policies must keep to, as a line, if there are any."""
    guards = None if case.answered is None else case.answered.compared.guards
    return [] if guards is None else [f"Guards: {'; '.join(messages.show(rule.text) for rule in guards.rules)}."]


def tell_briefly(case: Case) -> str:
    """Return a case in one line: the answer, and whether a guard is broken."""
    guarded = [] if case.answered is None else case.answered.compared.guarded
    is_broken = any(one.target == case.target and not one.passes for one in guarded)
    return f"{tell(case)}{' It does not keep to all guards.' if is_broken else ''}"


def summarise(case: Case) -> str:
    """Return a case in three lines: the answer, what to do, and what to doubt."""
    answered, step = case.shown_answer, None if case.answered is None else case.answered.step
    lines = [f"{tell(case)} {'' if answered is None else tell_interval(answered)}".strip()]
    lines += [] if step is None else [f"Next step: {step.sentence}"]
    return "\n".join([*lines, f"{'Why not' if case.badge == 'not answerable' else 'Doubt first'}: {tell_doubt(case)}"])


def describe_origin(report: Report) -> str:
    """Return what a report was made of, and how."""
    made = [report.subtitle, f"made {report.made}", f"counterfold {version('counterfold')}"]
    answered = report.first.answered
    if answered is not None:
        result = answered.evaluation
        by = f"by {messages.clean_sentence(result.selected)}" if len(report.cases) == 1 else ""
        made += [by if report.first.is_answerable else "", f"seed {result.seed}"]
    return "; ".join(filter(None, made))
