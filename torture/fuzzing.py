"""The fuzzer's process, `python -m torture.fuzzing KIND SECONDS FOLDER`: it mutates small logs and reads them.

With atheris the code of counterfold that they reach guides the mutations; without it they are drawn by hypothesis.
What is no refusal and no answer is saved as a file in the folder, one for each place in the code; a file named `last`
is what was being read if the process died.
"""

import hashlib
import sys
import time
import traceback
import warnings
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

MOST_BYTES = 1 << 14


class Target:
    """Reads bytes as a file of one format by both engines."""

    def __init__(self, kind, folder):
        import counterfold as cf
        from torture.cases import PLAIN

        self.evaluate, self.refusal, self.options = cf.evaluate, cf.CounterfoldError, PLAIN
        self.kind, self.folder, self.path = kind, folder, folder / f"log.{kind}"
        self.tried = 0

    def __call__(self, data):
        """Try the bytes, and save them if they end badly."""
        data = bytes(data)
        self.tried += 1
        self.path.write_bytes(data)
        (self.folder / "last").write_bytes(data)
        for engine in ("memory", "local"):
            try:
                self.evaluate(self.path, engine=engine, **self.options)
            except self.refusal:
                pass
            except Exception as error:  # noqa: BLE001 whatever it is, it is a finding
                self.save(data, engine, error)

    def save(self, data, engine, error):
        """Write the bytes under a name that tells the place in the code where the error came from."""
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        ours = [frame for frame in frames if "counterfold" in frame][-1:]
        place = hashlib.sha256(f"{type(error).__name__} {ours}".encode()).hexdigest()[:10]
        (self.folder / f"finding-{place}.{self.kind}").write_bytes(data)
        (self.folder / f"finding-{place}.txt").write_text(
            f"{engine}: {''.join(traceback.format_exception(error))[-1200:]}"
        )


def main():
    """Fuzz one format until the time is over."""
    kind, seconds, folder = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    warnings.simplefilter("ignore")
    fuzz = fuzz_by_coverage if find_spec("atheris") else fuzz_by_hypothesis
    fuzz(kind, seconds, folder)


def write_corpus(kind, folder):
    """Write the files that mutations start from."""
    from torture.logs import make_rows, make_table, write_arrow, write_csv, write_json, write_parquet
    from torture.mutations import make_small

    structs = make_table(target=[{"red": 0.25, "green": 0.5, "blue": 0.25}] * 240).slice(0, 12)
    corpus = {
        "csv": [write_csv(make_rows()[:5]), write_csv(make_rows()[:9], "\t")],
        "jsonl": [write_json(make_rows()[:5]), write_json(structs.to_pylist())],
        "parquet": [write_parquet(structs, compression="none"), write_parquet(structs.slice(0, 4))],
        "arrow": [write_arrow(structs), write_arrow(structs, "stream", 3)],
    }
    folder.mkdir(exist_ok=True)
    several = [make_small(kind), *corpus.get(kind, [])]
    for number, data in enumerate(several):
        (folder / f"{number}").write_bytes(data.encode() if isinstance(data, str) else data)
    return several


def fuzz_by_coverage(kind, seconds, folder):
    """Fuzz with atheris; libFuzzer ends the process when the time is over."""
    import atheris

    with atheris.instrument_imports(include=["counterfold"]):
        import counterfold.engines.local
        import counterfold.io.formats
        import counterfold.io.schema.schema  # noqa: F401
    write_corpus(kind, folder / "corpus")
    target = Target(kind, folder)

    def try_bytes(data):
        target(data)
        (folder / "tried").write_text(f"{target.tried} by atheris")

    limits = [
        f"-max_total_time={max(int(seconds), 1)}",
        f"-max_len={MOST_BYTES}",
        "-timeout=20",
        "-rss_limit_mb=4096",
        "-verbosity=0",
    ]
    atheris.Setup(["fuzz", *limits, f"-artifact_prefix={folder}/", str(folder / "corpus")], try_bytes)
    atheris.Fuzz()


def fuzz_by_hypothesis(kind, seconds, folder):
    """Fuzz with examples that hypothesis draws: flips, cuts, insertions and repetitions of the corpus."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    corpus = [one.encode() if isinstance(one, str) else one for one in write_corpus(kind, folder / "corpus")]
    target, begin = Target(kind, folder), time.monotonic()
    change = st.tuples(st.integers(0, MOST_BYTES), st.integers(0, 8), st.binary(max_size=8))

    @settings(max_examples=10**6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(corpus), st.lists(change, min_size=1, max_size=4))
    def try_changes(data, changes):
        if time.monotonic() - begin > seconds:
            raise TimeoutError
        for place, length, put in changes:
            start = place % max(len(data), 1)
            data = data[:start] + put + data[start + length :]
        target(data)

    with suppress(TimeoutError):
        try_changes()
    (folder / "tried").write_text(f"{target.tried} by hypothesis")


if __name__ == "__main__":
    main()
