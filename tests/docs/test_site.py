"""The site of the docs: it is built without a warning, and is read without the network."""

import re
import shutil
import subprocess
import sys

import pytest

from places import ROOT

LOADED = re.compile(r'<(?:script|img|iframe)[^>]* src="([^"]+)"|<link [^>]*rel="stylesheet"[^>]*href="([^"]+)"')

LOCAL = ("file:", "data:", "about:", "blob:")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, with warnings as errors, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def page(site):
    """Open the first page from the disk, in a browser that has no network, and fail if the browser complains."""
    api, chromium = pytest.importorskip("playwright.sync_api"), shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium")
    complaints = []
    with api.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.extend(url for url in [request.url] if not url.startswith(LOCAL)))
        page.goto((site / "index.html").as_uri())
        yield page
        browser.close()
    assert complaints == []


def test_pages_load_nothing_from_elsewhere_and_every_formula_was_made(site):
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert [
            one for pair in LOADED.findall(text) for one in pair if "//" in one and not one.startswith("data:")
        ] == [], file
        assert "arithmatex" not in text, file
        assert "merror" not in text, file


def test_the_search_works_from_the_disk(page):
    page.click("input.md-search__input")
    page.keyboard.type("effective rows", delay=20)
    page.wait_for_selector(".md-search-result__item")
    assert "matching document" in page.inner_text(".md-search-result__meta")


def test_no_page_is_wider_than_a_phone(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    for file in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # that one is for servers
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, file
