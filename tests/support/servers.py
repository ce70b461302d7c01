"""Servers for tests, on loopback and in folders of their own: PostgreSQL, and moto's for the protocol of S3."""

import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "se/cret@word"  # noqa: S105 (of a server that lives for a few tests)
SIGNED = "AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"
WAIT = 60
"""How many seconds a server may take to start."""


def find_program(name):
    """Return a program that is on the path, or where Debian puts those of PostgreSQL."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(places[-1]) if places else None)


def find_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(port, process, is_ready):
    end = time.monotonic() + WAIT
    while time.monotonic() < end and process.poll() is None:
        if is_ready(port):
            return
        time.sleep(0.1)
    pytest.skip("the server did not start")


@contextmanager
def run_server(command, port, is_ready=is_listening, **settings):
    """Run a program until the tests are done with it."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **silent, **settings)
    try:
        wait_for(port, process, is_ready)
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def run_postgres():
    """Yield the address of a fresh server, with its password; PostgreSQL refuses to be run by root."""
    initdb, postgres, ask = (find_program(name) for name in ("initdb", "postgres", "pg_isready"))
    if initdb is None or postgres is None or ask is None:
        pytest.skip("there is no PostgreSQL (Debian's package `postgresql`)")
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    folder, port = Path(tempfile.mkdtemp(prefix="counterfold-postgres-")), find_port()
    try:
        (folder / "password").write_text(PASSWORD)
        if user:
            shutil.chown(folder, "postgres")
            shutil.chown(folder / "password", "postgres")
        settings = ["-U", "ann", "--auth=scram-sha-256", f"--pwfile={folder}/password", "--no-sync", "-E", "UTF8"]
        made = subprocess.run([initdb, "-D", f"{folder}/data", *settings], capture_output=True, check=False, **user)
        if made.returncode:
            pytest.skip(f"PostgreSQL could not be set up: {made.stderr.decode()[-200:]}")
        where = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-c", "fsync=off"]

        def is_ready(port):  # it listens before it answers
            return not subprocess.run([ask, "-q", "-h", "127.0.0.1", "-p", str(port)], check=False).returncode

        with run_server([postgres, "-D", f"{folder}/data", *where], port, is_ready, cwd=folder, **user):
            yield f"postgresql://ann:se%2Fcret%40word@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_s3():
    """Yield the settings of addresses of a fresh server with the bucket `logs`, and a function that writes files."""
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("there is no moto_server (pip install 'moto[s3,server]', in any environment on the path)")
    port = find_port()

    def put(place, content):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("PUT", f"/{place}", content, {"Authorization": SIGNED})
        assert connection.getresponse().status == 200
        connection.close()

    with run_server([program, "-H", "127.0.0.1", "-p", str(port)], port):
        put("logs", b"")
        yield f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1", put
