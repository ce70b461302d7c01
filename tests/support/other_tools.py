"""One small log, written as other tools write theirs, and what it is worth by plain loops."""

import json
from fractions import Fraction

ROWS, MODELS = 600, ("tiny", "small", "large")
WANTED = (0.25, 0.25, 0.5)
"""The probabilities of the target, which does not look at the context."""


def make_rows(rows=ROWS):
    """Return decisions whose numbers every text holds exactly; `action` is a place from 0 on."""
    state, found = 12345, []
    for number in range(rows):
        draws = []
        for _ in range(4):
            state = (1103515245 * state + 12345) % 2**31
            draws.append(state >> 16)
        age, hour = draws[0] % 64, draws[1] % 24
        probs = [(0.5, 0.25, 0.25), (0.125, 0.5, 0.375), (0.25, 0.25, 0.5)][age % 3]
        mark = (draws[2] % 1024) / 1024
        action = 0 if mark < probs[0] else 1 if mark < probs[0] + probs[1] else 2
        reward = (action * 8 + age % 5 + draws[3] % 7) / 8
        found.append({"id": number, "age": age, "hour": hour, "probs": probs, "action": action, "reward": reward})
    return found


def value_by_ips(rows):
    """Return the target's value: the mean of rewards weighted by the ratio of probabilities."""
    total = sum(
        Fraction(WANTED[row["action"]]) / Fraction(row["probs"][row["action"]]) * Fraction(row["reward"])
        for row in rows
    )
    return float(total / len(rows))


def make_event(row, names=None, **changes):
    """Return a decision as an event of dsjson; the chosen action comes first in `a`."""
    order = [row["action"], *(place for place in range(3) if place != row["action"])]
    multi = [{"TAction": {"size": place}} for place in range(3)]
    for place, name in enumerate(names or ()):
        multi[place]["_tag"] = name
    event = {
        "_label_cost": -row["reward"],
        "_label_probability": row["probs"][row["action"]],
        "_label_Action": row["action"] + 1,
        "_labelIndex": row["action"],
        "o": [{"v": row["reward"], "EventId": f"event-{row['id']}"}],
        "Timestamp": "2021-02-04T16:31:29.2460000Z",
        "Version": "1",
        "EventId": f"event-{row['id']}",
        "a": [place + 1 for place in order],
        "c": {"User": {"age": row["age"]}, "hour": row["hour"], "_multi": multi},
        "p": [row["probs"][place] for place in order],
        "VWState": {"m": "N/A"},
    }
    event |= changes
    return {name: value for name, value in event.items() if value is not ...}


def write_dsjson(rows, names=None):
    return "".join(f"{json.dumps(make_event(row, names))}\n" for row in rows)


def write_cb(rows):
    lines = []
    for row in rows:
        label = f"{row['action'] + 1}:{-row['reward']}:{row['probs'][row['action']]}"
        lines.append(f"{label} |User age:{row['age']} | hour:{row['hour']}\n")
    return "".join(lines)


def write_adf(rows, names=None):
    groups = []
    for row in rows:
        lines = [f"shared |User age:{row['age']} | hour:{row['hour']}"]
        for place in range(3):
            label = f"0:{-row['reward']}:{row['probs'][place]}" if place == row["action"] else ""
            tag = f" '{names[place]}" if names else ""
            lines.append(f"{label}{tag} |TAction size:{place}")
        groups.append("\n".join(lines))
    return "\n\n".join([*groups, ""])


def make_trace(row):
    """Return a decision as a request; its score is the reward and half its cost above it."""
    return {
        "id": f"request-{row['id']}",
        "model": MODELS[row["action"]],
        "probability": row["probs"][row["action"]],
        "models": dict(zip(MODELS, row["probs"], strict=True)),
        "cost": (row["action"] + 1) / 4,
        "score": row["reward"],
        "features": {"User": {"age": row["age"]}, "hour": row["hour"]},
    }


def write_traces(rows, nest=dict):
    return "".join(f"{json.dumps(nest(make_trace(row)))}\n" for row in rows)


def nest_attributes(trace):
    """Return a request as a span of OpenTelemetry whose attributes are an object."""
    features = {f"router.features.{name}": value for name, value in trace["features"].items()}
    lists = {"router.models": list(trace["models"]), "router.probabilities": list(trace["models"].values())}
    plain = {f"router.{name}": trace[name] for name in ("probability", "cost", "score")}
    return {
        "name": "chat",
        "span_id": trace["id"],
        "attributes": plain | features | lists | {"gen_ai.request.model": trace["model"]},
    }


def nest_pairs(trace):
    """Return a request as a span of OpenTelemetry in JSON, whose attributes are pairs of typed values."""

    def type_value(value):
        if isinstance(value, str):
            return {"stringValue": value}
        if isinstance(value, int):
            return {"intValue": str(value)}
        if isinstance(value, list):
            return {"arrayValue": {"values": [type_value(one) for one in value]}}
        if isinstance(value, dict):
            return {"kvlistValue": {"values": [{"key": key, "value": type_value(one)} for key, one in value.items()]}}
        return {"doubleValue": value}

    span = nest_attributes(trace)
    pairs = [{"key": key, "value": type_value(value)} for key, value in span["attributes"].items()]
    return span | {"attributes": pairs}


def write_open_bandit(rows):
    head = ",timestamp,item_id,position,click,propensity_score,user_feature_0,User.age,hour"
    lines = [head]
    for row in rows:
        p = row["probs"][row["action"]]
        lines.append(
            f"{row['id']},2019-11-24 00:00:00,{row['action']},1,{row['reward']},{p},81ce123,{row['age']},{row['hour']}"
        )
    return "\n".join([*lines, ""])
