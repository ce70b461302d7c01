"""What is assumed, and what words mean, in plain English."""

ASSUMPTIONS = [
    (
        "Probabilities are true",
        "Actions were drawn with the propensities that the log says; fitted ones need all that decided as columns.",
    ),
    ("Everything was tried", "Whatever the policy does, today's did from time to time in the same situation."),
    (
        "One decision, one reward",
        "What a decision earns depends on that decision alone, not on earlier ones or on what other users got.",
    ),
    (
        "Tomorrow is like the log",
        "Users, items and prices are those of the log. The report says what would have been earned then.",
    ),
    ("The reward is what matters", "Rewards are complete, and they measure what you want more of."),
    (
        "Rows are independent",
        "Rows of one user or session count as one if the log names its groups; otherwise every row counts for itself.",
    ),
]

GLOSSARY = [
    ("policy", "A rule that decides what to do in each situation: which item to show, which price to ask."),
    ("log", "What was decided in the past, by the policy that runs today, and what it earned."),
    ("target", "The new policy, whose value is asked for."),
    ("reward", "What one decision earned: a click, an amount, a score."),
    ("value", "The mean reward per decision."),
    ("95 % interval", "A range that is made such that it holds the true value in 95 of 100 cases."),
    (
        "confidence that it is better",
        "How sure it is, by the interval, that the policy earns more: 97.5 % if the 95 % interval just ends above 0.",
    ),
    ("verdict", "How far the log can answer: good, undecided, caution or not answerable, by the worst thing found."),
    (
        "undecided",
        "Nothing is wrong with the log, but it is too small: a large loss and a large gain both fit what was logged.",
    ),
    ("action", "What was decided."),
    ("context", "What was known before the decision: the user, the time, the device."),
    ("propensity", "The probability with which today's policy took the action that it took."),
    ("weight", "The new policy's probability of a logged action, divided by its propensity: how often the row counts."),
    ("effective rows", "So many decisions of the new policy itself would tell as much as this log does."),
    ("support", "What the log could have done. Beyond it, nothing is known."),
    (
        "estimator",
        "A formula that makes a value from a log.",
    ),
    ("IPS, SNIPS", "The weighted sum of rewards per row, and per weight, which is steadier."),
    ("DM, DR, SNDR", "What a reward model predicts; the same, corrected by weights in two ways."),
    (
        "Ladder",
        "How estimators are mixed: the less noise a step to larger weights has, the more of it is taken.",
    ),
    ("candidate", "An estimator with its settings, one of several that could give the answer."),
    ("reward model", "A prediction of the reward of each action in each situation."),
    ("cap", "The largest weight that is allowed; larger ones are cut down to it."),
    ("score", "How a selector ranks candidates; lower is better."),
    ("standard error", "The typical size of the error that chance makes."),
    ("p", "How often chance alone makes something at least as odd: below 0.01 it is no chance."),
]
