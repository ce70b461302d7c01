"""Segments on Spark are those of the local engine."""

import counterfold as cf
from spark_logs import LOCAL, MARKS, check_same

pytestmark = MARKS


@LOCAL
def test_segments_are_those_of_the_local_engine(spark, path):
    del spark
    asked = {"by": ["user", "age:4"], "ignore": ["target", "other_policy"]}
    found, expected = (cf.evaluate(path, engine=engine, **asked) for engine in ("spark", "local"))
    assert len(found.segments) == 51 + 4
    check_same(found, expected)
