"""Addresses that are none of an object store, and what is shown of any."""

import os
import subprocess
import sys

import pytest
from pyarrow import fs

import counterfold as cf
from counterfold.io.sources._uris import hide_secrets, show_uri


@pytest.mark.parametrize(
    "uri", ["http://ann:secret@host/log.parquet", "postgresql://ann:secret@host/shop", "x://ann:secret@host"]
)
def test_an_unknown_scheme_is_refused(uri):
    with pytest.raises(cf.DataError, match=r"`source` must be a path, or an address of s3, .* use `cf\.sql`") as caught:
        cf.read_log(uri)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "password"),
    [
        ("postgresql://ann:secret@host:5432/shop", "secret"),
        ("postgresql://ann:a/secret@host:5432/shop", "a/secret"),
        ("postgresql://ann:a@secret@host:5432/shop", "a@secret"),
        ("postgresql://ann:a%40secret@host:5432/shop?sslpassword=secret#secret", "a@secret"),
        ("postgresql://host/shop?user=ann&password=secret", "secret"),
        ("postgresql://host/shop?password=a@secret/b", "a@secret/b"),
        ("s3://KEY:secret@bucket/logs", "secret"),
    ],
)
def test_what_is_shown_of_an_address(uri, password):
    assert "secret" not in show_uri(uri)
    assert show_uri(uri).startswith(uri.partition("://")[0])
    assert "secret" not in hide_secrets(uri)(f"cannot connect to {uri} as ann with {password}")


def test_a_file_of_this_machine_by_its_address(tmp_path):
    (tmp_path / "log.csv").write_text("action,reward,propensity\n0,1,0.5\n1,0,0.5\n")
    assert len(cf.read_log(f"file://{tmp_path}/log.csv")) == 2


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("user=a", "a table that has no column `area` at all"),
        ("user=a", "as: a b"),
        ("password=on", "the connection is not on"),
        ("sslmode=req", "SSL is required"),
    ],
)
def test_short_settings_do_not_garble_messages(secret, text):
    assert hide_secrets(f"postgresql://host/shop?{secret}")(text) == text


@pytest.mark.parametrize(
    "text", ['user "a"', "user=a", "user 'a' and `a`", "postgresql://a@host", "x:a@host", "user=a, b"]
)
def test_short_settings_are_hidden_where_they_stand_as_values(text):
    shown = hide_secrets("postgresql://host/shop?user=a")(text)
    assert "***" in shown
    assert hide_secrets("postgresql://host/shop?user=a")(shown) == shown


@pytest.mark.skipif(not hasattr(fs, "AzureFileSystem"), reason="pyarrow is built without Azure")
def test_a_library_that_ends_its_process_does_not_end_this_one():
    """Azure's library aborts at once on such a setting, before it asks anything of the network."""
    words = ["evaluate", "abfs://logs@account.dfs.core.windows.net/log.parquet", "--target", "a"]
    found = subprocess.run(
        [sys.executable, "-m", "counterfold", *words],
        env={**os.environ, "MSI_ENDPOINT": "::bad"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(
        "Error: `abfs://account.dfs.core.windows.net/log.parquet` could not be read: the setting "
    )
    assert found.stderr.count("\n") == 1
