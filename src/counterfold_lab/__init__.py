"""Problems whose true answer is known, and what is measured on them: one folder per question.

`paper` reruns the paper's experiments, `selection` and `learning` are the benchmarks, and `synthetic` writes logs of
any size. `commands` holds their commands, which join the command line as entry points of the group
`counterfold.commands`, and `report` the tables that the commands print. The lab imports counterfold; counterfold never
imports the lab.
"""
