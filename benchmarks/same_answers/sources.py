"""The cases of benchmarks/same_answers that read the same log from every source and in every format."""

import gzip
import sqlite3
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq

import counterfold as cf
import other_tools
from same_answers.commands import run_command
from same_answers.logs import columns_of, evaluate, table_of
from tables import FORMATS

ENGINES = ("memory", "local")
N_ROWS = 700


def flat_table():
    """Return a log without lists, for sources that do not have them."""
    c = columns_of(N_ROWS)
    spread = {f"{name}_{place}": c[name][:, place] for name in ("logging_probs", "target") for place in range(3)}
    return table_of({"x0": c["x0"], "x1": c["x1"], "action": c["action"], "reward": c["reward"], **spread})


def list_sources():
    """Return functions that make every source of one log, by name."""
    return {
        "pyarrow table": flat_table,
        "pandas": lambda: flat_table().to_pandas(),
        "pandas, arrow types": pandas_of_arrow,
        "pandas, odd index": lambda: flat_table().to_pandas().set_index(np.arange(N_ROWS)[::-1]),
        "polars": polars_frame,
        "lazy polars": lambda: polars_frame().lazy(),
        "mapping of lists": lambda: flat_table().to_pydict(),
        "mapping of arrays": lambda: {name: flat_table()[name].to_numpy() for name in flat_table().column_names},
        "list of rows": lambda: flat_table().to_pylist(),
        "record batches": lambda: flat_table().to_reader(max_chunksize=100),
        "function of a reader": lambda: open_reader,
        "function of a table": lambda: flat_table,
        "record batch": lambda: flat_table().to_batches()[0],
        "iterator": lambda: iter(flat_table().to_batches()),
        "data set": lambda: ds.dataset(folder_of_files(), format="parquet"),
        "data set, partitions": lambda: ds.dataset(folder_of_days(), partitioning="hive"),
        "in-memory data set": lambda: ds.dataset(flat_table()),
        "scanner": lambda: ds.dataset(flat_table()).scanner(),
        "path": lambda: Path(file_of("log.parquet")),
        "address of a file": lambda: Path(file_of("log.parquet")).resolve().as_uri(),
        "folder": folder_of_files,
        "folder of days": folder_of_days,
        "pattern": lambda: f"{folder_of_files()}/*.parquet",
        "pattern without files": lambda: f"{folder_of_files()}/*.csv",
        "empty folder": empty_folder,
        "folder of several formats": folder_of_formats,
        "folder with other columns": folder_with_other_columns,
        "duckdb relation": duckdb_relation,
        "sql on a file": lambda: cf.sql(f"select * from '{file_of('log.parquet')}'"),  # noqa: S608 (of our own making)
        "sql on files": lambda: cf.sql(f"select * from '{folder_of_files()}/*.parquet' where x0 > -1"),  # noqa: S608
        "sql on frames": lambda: cf.sql("select * from shown order by x0", shown=flat_table()),
        "sql on two frames": sql_on_two_frames,
        "sql that fails": lambda: cf.sql("select nothing from 'log.parquet'"),
        "two statements": lambda: cf.sql("select 1; select 2"),
        "statement that writes": lambda: cf.sql("create table shown as select 1"),
        "sqlite": lambda: cf.sql("select * from log", db=f"sqlite:///{sqlite_file()}"),
        "sqlite, no such table": lambda: cf.sql("select * from logs", db=f"sqlite:///{sqlite_file()}"),
        "duckdb file": lambda: cf.sql("select * from log", db=f"duckdb:///{duckdb_file()}"),
        "unknown database": lambda: cf.sql("select 1", db="nothing://host/shop"),
        "password in an address": lambda: cf.sql("select 1", db="postgresql://ann:secret@127.0.0.1:1/shop"),
        "unknown store": lambda: "nothing://bucket/log.parquet",
        "a number": lambda: 3,
        "an array": lambda: np.ones((5, 2)),
        "a text that is no path": lambda: "nowhere at all",
        "nothing": lambda: None,
    }


def pandas_of_arrow():
    import pandas as pd

    return flat_table().to_pandas(types_mapper=pd.ArrowDtype)


def polars_frame():
    import polars as pl

    return pl.from_arrow(flat_table())


def open_reader():
    return flat_table().to_reader(max_chunksize=150)


def file_of(name):
    Path(name).write_bytes(FORMATS[name](flat_table()))
    return name


def folder_of_files():
    """Write a folder of files and return its name."""
    folder = Path("folder")
    folder.mkdir(exist_ok=True)
    table = flat_table()
    for number in range(3):
        pq.write_table(table.slice(number * 250, 250), folder / f"part-{number}.parquet", row_group_size=80)
    return str(folder)


def folder_of_days():
    """Write a folder with a folder for each day, and return its name."""
    table = flat_table()
    for number in range(3):
        folder = Path("days", f"day={number}")
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(number * 250, 250), folder / "part.parquet")
    Path("days", "_SUCCESS").write_text("")
    return "days"


def folder_of_formats():
    folder = Path("mixed")
    folder.mkdir(exist_ok=True)
    pq.write_table(flat_table(), folder / "a.parquet")
    pa.csv.write_csv(flat_table(), folder / "b.csv")
    return str(folder)


def folder_with_other_columns():
    folder = Path("unlike")
    folder.mkdir(exist_ok=True)
    pq.write_table(flat_table(), folder / "a.parquet")
    pq.write_table(flat_table().drop_columns("x1"), folder / "b.parquet")
    return str(folder)


def empty_folder():
    Path("empty").mkdir(exist_ok=True)
    return "empty"


def duckdb_relation():
    import duckdb

    connection = duckdb.connect()
    connection.register("shown", flat_table())
    return connection.sql("select * from shown")


def duckdb_file():
    import duckdb

    path = Path("shop.duckdb")
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("shown", flat_table())
        connection.execute("create table log as select * from shown")
    return path


def sqlite_file():
    """Write a database of SQLite and return its path."""
    path = Path("shop.db")
    path.unlink(missing_ok=True)
    table = flat_table()
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table log ({', '.join(table.column_names)})")
        places = ", ".join("?" * table.num_columns)
        rows = zip(*table.to_pydict().values(), strict=True)
        connection.executemany(f"insert into log values ({places})", rows)  # noqa: S608 (of our own making)
    connection.close()
    return path


def sql_on_two_frames():
    """Return a query that joins two frames."""
    table = flat_table().append_column("id", [np.arange(N_ROWS)])
    shown = table.drop_columns("reward")
    clicked = table.select(["id", "reward"]).to_pandas()
    return cf.sql("select * from shown join clicked using (id) order by id", shown=shown, clicked=clicked)


def ask_by_file():
    """Evaluate the rows of a query that is in a file, by the command line."""
    Path("log.sql").write_text(f"select * from '{file_of('log.parquet')}' where x1 < 1")  # noqa: S608
    return run_command("evaluate", "--sql", "log.sql", "--candidates", "plain", "--json")


def answers_by_source():
    """Yield answers on one log from every source, and what is refused."""
    for name, make in list_sources().items():
        for engine in ENGINES:
            yield (
                f"{name}, {engine}",
                lambda make=make, engine=engine: evaluate(make(), "target", "plain", engine=engine),
            )
    for name in ("lazy polars", "data set", "duckdb relation", "function of a reader", "sqlite", "pandas"):
        make = list_sources()[name]
        yield f"{name}, default", lambda make=make: evaluate(make(), "target")
        yield f"{name}, read_log", lambda make=make: cf.read_log(make(), ignore=["target"])
        yield f"{name}, check", lambda make=make: cf.check(make(), "target")
        yield f"{name}, LogScan", lambda make=make: evaluate(cf.LogScan(make(), context=["x1"]), "target", "plain")
    yield "sql in a file", ask_by_file
    names = ("action", "reward", "x0", "x1")
    yield "missing files beside", lambda: evaluate([file_of("log.parquet"), "nowhere.parquet"], "target")
    yield (
        "renamed",
        lambda: evaluate(
            flat_table().rename_columns([f"my {one}" if one in names else one for one in flat_table().column_names]),
            "target",
            "plain",
            action="my action",
            reward="my reward",
        ),
    )


def answers_by_format():
    """Yield answers on files of every format, of this and of other tools."""
    table = flat_table()
    nested = table_of(
        {name: columns_of(N_ROWS)[name] for name in ("x0", "x1", "action", "reward", "logging_probs", "target")}
    )
    for (name, write), engine in product(FORMATS.items(), ENGINES):
        yield f"{name}, {engine}", partial(evaluate_bytes, name, write, table, engine)
        yield f"{name} with lists, {engine}", partial(evaluate_bytes, name, write, nested, engine)
    for packing, engine in product(("gz", "bz2", "zst", "lz4"), ENGINES):
        yield f"packed log.csv.{packing}, {engine}", partial(evaluate_packed, f"log.csv.{packing}", table, engine)
        yield f"packed log.jsonl.{packing}, {engine}", partial(evaluate_packed, f"log.jsonl.{packing}", table, engine)
    forms = {
        "csv": "log.csv",
        "jsonl": "log.jsonl",
        "feather": "log.feather",
        "parquet": "log.parquet",
        "arrow": "log.arrow",
    }
    for form, name in forms.items():
        yield f"format {form}", partial(evaluate_renamed, FORMATS[name], form)
    yield "format unknown", partial(evaluate_renamed, FORMATS["log.csv"], "xls")
    yield "format wrong", partial(evaluate_renamed, FORMATS["log.csv"], "parquet")
    for name, compression in product(("log.parquet",), ("snappy", "gzip", "zstd", "brotli")):
        yield f"{name}, {compression}", partial(evaluate_parquet, table, compression)
    yield from formats_of_other_tools()


def evaluate_bytes(name, write, table, engine):
    """Write a file and evaluate a target on it."""
    Path(name).write_bytes(write(table))
    return evaluate(name, "target", "plain", engine=engine)


def evaluate_packed(name, table, engine):
    """Write a compressed file and evaluate a target on it."""
    plain, _, packing = name.rpartition(".")
    content = FORMATS[plain](table)
    codec = {"zst": "zstd"}.get(packing, packing)
    with pa.OSFile(name, "wb") as file, pa.CompressedOutputStream(file, codec if codec != "gz" else "gzip") as out:
        out.write(content)
    return evaluate(name, "target", "plain", engine=engine)


def evaluate_renamed(write, form):
    """Write a file whose name does not tell its format, and evaluate a target on it."""
    Path("log.data").write_bytes(write(flat_table()))
    return evaluate("log.data", "target", "plain", format=form)


def evaluate_parquet(table, compression):
    pq.write_table(table, "log.parquet", compression=compression, row_group_size=200)
    return evaluate("log.parquet", "target", "plain", engine="local")


def formats_of_other_tools():
    """Yield answers on files as other tools write them."""
    rows = other_tools.make_rows()
    names = other_tools.MODELS
    wanted = other_tools.WANTED
    by_place = dict(enumerate(wanted, 1))
    by_number = dict(enumerate(wanted))
    by_name = dict(zip(names, wanted, strict=True))
    late = '{"EventId": "late", "RewardValue": 1.0}\n'
    nests = {"flat": dict, "attributes": other_tools.nest_attributes, "pairs": other_tools.nest_pairs}
    files = {
        "log.dsjson": (other_tools.write_dsjson(rows), by_place, {}),
        "named.dsjson": (other_tools.write_dsjson(rows, names), by_name, {}),
        "places.dsjson": (other_tools.write_dsjson(rows, names), by_place, {"format": "dsjson:actions=place"}),
        "late.dsjson": (late + other_tools.write_dsjson(rows), by_place, {}),
        "some.json": (other_tools.write_dsjson(rows), by_place, {"format": "dsjson"}),
        "log.vw": (other_tools.write_cb(rows), by_place, {}),
        "adf.vw": (other_tools.write_adf(rows), by_place, {}),
        "named.vw": (other_tools.write_adf(rows, names), by_name, {}),
        "log.dat": (other_tools.write_cb(rows), by_place, {"format": "vw-text:lines=cb"}),
        "wrong.dat": (other_tools.write_cb(rows), by_place, {"format": "vw-text:lines=adf"}),
        "all.csv": (other_tools.write_open_bandit(rows), by_number, {"format": "open-bandit"}),
        "broken.dsjson": (other_tools.write_dsjson(rows)[:-40], by_place, {}),
        "broken.vw": (other_tools.write_cb(rows) + "1:a:b |x y\n", by_place, {}),
        "unlike.dsjson": ('{"a": 1}\n', by_place, {}),
    }
    for kind, nest in nests.items():
        settings = {"format": "router-traces"}
        files[f"{kind}.jsonl"] = (other_tools.write_traces(rows, nest), by_name, {**settings, "reward": "score"})
        files[f"{kind}-cost.jsonl"] = (
            other_tools.write_traces(rows, nest),
            by_name,
            {**settings, "reward": "score - 0.5 * cost"},
        )
    files["broken.jsonl"] = ('{"model": 3', by_name, {"format": "router-traces", "reward": "score"})
    for (name, (text, target, settings)), engine in product(files.items(), ENGINES):
        yield f"{name}, {engine}", partial(evaluate_of_tool, name, text, target, engine, settings)
    yield (
        "packed.dsjson.gz",
        partial(evaluate_of_tool, "packed.dsjson.gz", other_tools.write_dsjson(rows), by_place, "local", {}),
    )
    yield "read_log of dsjson", partial(read_of_tool, "log.dsjson", other_tools.write_dsjson(rows))
    yield "read_log of vw", partial(read_of_tool, "log.vw", other_tools.write_cb(rows))
    yield "obp", partial(evaluate_obp, rows)
    yield "obp without propensities", lambda: cf.from_obp({"n_rounds": 3, "action": [0, 1, 0], "reward": [0, 1, 1]})
    yield "obp of nothing", lambda: cf.from_obp({})


def evaluate_of_tool(name, text, target, engine, settings):
    """Write a file of another tool and evaluate a target on it."""
    content = text.encode()
    Path(name).write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
    return evaluate(name, target, "plain", engine=engine, **settings)


def read_of_tool(name, text):
    """Return what a log of another tool holds."""
    Path(name).write_text(text)
    log = cf.read_log(name)
    return {"log": log, "reward": log.reward[:5], "propensity": log.propensity[:5], "context": log.context[:3]}


def evaluate_obp(rows):
    """Evaluate a target on a log as Open Bandit Pipeline has it."""
    actions = np.array([row["action"] for row in rows])
    pi_b = np.array([row["probs"] for row in rows])
    feedback = {
        "n_rounds": len(rows),
        "n_actions": 3,
        "context": np.array([[row["age"], row["hour"]] for row in rows]),
        "action_context": np.eye(3),
        "action": actions,
        "position": np.arange(len(rows)) % 2,
        "reward": np.array([row["reward"] for row in rows]),
        "pi_b": np.repeat(pi_b[:, :, None], 2, axis=2),
        "pscore": pi_b[np.arange(len(rows)), actions],
    }
    dist = np.tile(np.array(other_tools.WANTED)[None, :, None], (len(rows), 1, 2))
    log = cf.from_obp(feedback)
    return {"log": log, "answer": evaluate(log, cf.from_action_dist(dist, feedback))}
