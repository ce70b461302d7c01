"""A Spark session for the worker, on this machine and bound to loopback."""

import os
import shutil
import sys
from functools import cache
from importlib.util import find_spec

LOOPBACK = "127.0.0.1"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "OFF",
}


def find_obstacle():
    """Return what Spark lacks here, or None."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    home = os.environ.get("JAVA_HOME")
    return None if shutil.which("java", path=f"{home}/bin" if home else None) else "Java is not installed"


@cache
def start_session():
    """Return a session, which ends with the process."""
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
    return SparkSession.builder.master("local[1]").appName("torture").config(map=SETTINGS).getOrCreate()
