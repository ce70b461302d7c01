"""Sources against a local file: the same log by the local engine from a folder, a DuckDB query and an S3 server.

Each measurement is a process of its own; prints seconds, the ratio to the file, and the peak memory of the process. The
server is moto's (`moto_server` on the path), which is written in Python: its own time is part of the ratio.
`--rows 1000000` for less.
"""

import argparse
import http.client
import json
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

FILES = 10
SIGNED = "AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"


def make_log(folder, rows):
    """Write the log as a folder of files."""
    from counterfold_lab.synthetic.file import Destination, write_log
    from counterfold_lab.synthetic.generator import Synthetic

    write_log(Synthetic(actions=10, context=10), rows, Destination(folder / "log", FILES))


@contextmanager
def serve(folder):
    """Yield the address of the log on a server."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [shutil.which("moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 (of our own making)
    try:
        for place in ("logs", *(f"logs/log/{file.name}" for file in sorted((folder / "log").iterdir()))):
            put(port, place, b"" if place == "logs" else (folder / place.partition("/")[2]).read_bytes())
        settings = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        yield f"s3://KEY:SECRET@logs/log?{settings}"
    finally:
        server.terminate()
        server.wait()


def put(port, place, content):
    """Write a file to the server, which may take a while to start."""
    for _ in range(200):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            connection.request("PUT", f"/{place}", content, {"Authorization": SIGNED})
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("the server does not take files")


def measure(kind, place):
    """Return the seconds of one evaluation in this process, its peak of memory and its value."""
    import counterfold as cf

    source = cf.sql(f"select * from '{place}/*.parquet'") if kind == "query" else place  # noqa: S608 (of our own making)
    start = time.perf_counter()
    found = cf.evaluate(cf.LogScan(source, ignore=["target"]), engine="local", progress=False)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "value": found.value}


def run(kind, place):
    """Return what another process measures."""
    done = subprocess.run(  # noqa: S603 (of our own making)
        [sys.executable, __file__, "--measure", kind, str(place)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main():
    """Measure the sources by turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=2)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure(*asked.measure)))
        return
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        make_log(folder, asked.rows)
        places = {"file": folder / "log", "query": folder / "log"}
        if shutil.which("moto_server"):
            places["s3"] = stack.enter_context(serve(folder))
        found = {kind: [] for kind in places}
        for turn in range(asked.repeats):
            for kind in list(places)[:: -1 if turn % 2 else 1]:
                found[kind].append(run(kind, places[kind]))
        base = median(one["seconds"] for one in found["file"])
        for kind, several in found.items():
            seconds, peak = median(one["seconds"] for one in several), max(one["mib"] for one in several)
            print(f"{kind:6} {seconds:7.1f} s  {seconds / base:5.2f}  {peak:6.0f} MiB  {several[0]['value']:.12f}")


if __name__ == "__main__":
    main()
