"""The HTML report in a real browser: it needs no network, says nothing on the console, and everybody can use it."""

import shutil

import numpy as np
import pytest

import counterfold as cf

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a page, waits for its charts, and knows what went wrong."""
    opened = []

    def open_page(path, size=WIDE, scheme="light"):
        context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=False)
        page = context.new_page()
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn=all]", state="attached")
        opened.append((context, said, asked, path.as_uri()))
        return page

    yield open_page
    for context, said, asked, address in opened:
        context.close()
        assert said == []
        assert asked == [address]


def test_every_chart_is_drawn_and_nothing_from_data_acts(visit, found_page):
    page = visit(found_page.path)
    drawn = page.locator(".panel .chart svg")
    assert drawn.count() == len(found_page.specs)
    boxes = [one.bounding_box() for one in drawn.all()]
    assert all(box["width"] > 150 and box["height"] > 40 for box in boxes)
    assert page.locator("svg .mark-symbol path, svg .mark-rect path, svg .mark-line path").count() > len(boxes)
    assert page.locator("img").count() == 0
    assert page.evaluate("JSON.parse(document.getElementById('counterfold-json').textContent).baseline") == "log"


def test_tables_are_sorted_by_keyboard(visit, answer_page):
    page = visit(answer_page.path)
    figure = page.locator("figure", has_text="What 13 estimators say").first
    figure.locator("summary").focus()
    page.keyboard.press("Enter")
    head = figure.locator("thead th", has_text="Std. error")
    read = "cells => cells.map(cell => Number(cell.dataset.key))"
    for order in ("descending", "ascending"):
        head.locator("button").focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == order
        keys = figure.locator("tbody td:nth-child(3)").evaluate_all(read)
        assert keys == sorted(keys, reverse=order == "descending")


def test_what_is_missing_comes_last_and_few_rows_are_not_sorted(visit, answer_page):
    page = visit(answer_page.path)
    assert page.locator("caption", has_text="All policies").locator("xpath=..").locator("button").count() == 0
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    table = page.locator("table", has=page.locator("caption", has_text="Rungs of the ladders"))
    head = table.locator("thead th", has_text="Step taken")
    for _ in range(2):
        head.locator("button").click()
        taken = table.locator("tbody tr td:nth-child(5)").all_inner_texts()
        assert "\N{EN DASH}" in taken
        assert {taken.index("\N{EN DASH}"), len(taken) - taken.count("\N{EN DASH}")} == {taken.index("\N{EN DASH}")}


def test_policies_are_cards_on_phones(visit, answer_page):
    page = visit(answer_page.path, PHONE)
    cards = page.locator(".cards")
    assert cards.evaluate("box => box.scrollWidth <= box.clientWidth")
    first = cards.locator("tbody td").first
    assert first.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Reward per decision"'
    assert cards.locator(".nothing:visible").count() == 0


def test_tooltips_beside_a_dot_show_texts_from_data_as_texts(visit, answer_page):
    page = visit(answer_page.path)
    figure = page.locator("figure", has_text="Reward model by action")
    figure.scroll_into_view_if_needed()
    dot = figure.locator("svg .mark-symbol.role-mark path").first.bounding_box()
    page.mouse.move(dot["x"] + dot["width"] + 3, dot["y"] + dot["height"] / 2)
    shown = page.locator("#vg-tooltip-element.visible")
    shown.wait_for()
    assert "observed" in shown.inner_text() or "value" in shown.inner_text()
    assert shown.locator("script, img").count() == 0


def test_a_tree_is_read_at_any_width(visit, learned_page):
    for size in (WIDE, PHONE):
        page = visit(learned_page.path, size)
        figure = page.locator("figure", has_text="How the policy decides")
        panel = figure.locator(".panel")
        words = figure.locator("svg text").all_text_contents()
        assert {"yes", "no", "other"} <= set(words)
        boxes = [box.bounding_box() for box in figure.locator("svg .mark-rect path").all()]
        assert len(boxes) == 3
        assert min(box["width"] for box in boxes) > 100
        assert panel.evaluate("one => one.scrollWidth >= one.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_the_theme_follows_the_system_and_a_button(visit, answer_page):
    page = visit(answer_page.path, scheme="dark")
    read_colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(read_colour)
    page.get_by_role("button", name="Light").click()
    light = page.evaluate(read_colour)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(21, 24, 28)")
    page.emulate_media(media="print", color_scheme="dark")
    page.locator("#theme").evaluate("button => button.click()")
    assert page.evaluate(read_colour) == light


def test_the_paragraph_can_be_copied_without_permission(visit, answer_page):
    page = visit(answer_page.path)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.locator(".copied", has_text=".").first.wait_for()
    selected = page.evaluate("getSelection().toString()")
    assert "instead of" in selected
    assert "Next step:" in selected


def test_pictures_and_findings_are_printed_and_tables_that_were_opened(visit, answer_page):
    page = visit(answer_page.path)
    page.locator("summary", has_text="The numbers").first.click()
    page.emulate_media(media="print")
    assert page.locator("figure table:visible").count() == 1
    assert page.locator("figure svg:visible").count() == len(answer_page.specs)
    assert not page.locator("#theme").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize(
    ("which", "size", "scheme"),
    [
        ("found_page", WIDE, "light"),
        ("refused_page", WIDE, "dark"),
        ("answer_page", PHONE, "light"),
        ("learned_page", PHONE, "dark"),
    ],
    ids=["light", "dark", "phone", "learned"],
)
def test_nothing_keeps_anybody_out(request, visit, which, size, scheme):
    page = visit(request.getfixturevalue(which).path, size, scheme)
    page.evaluate("document.querySelectorAll('#section-policies details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]})
    worse = [one for one in found.response["violations"] if one["impact"] in {"serious", "critical"}]
    assert worse == [], found.generate_report()


def test_191_candidates_fit(visit, write):
    rng = np.random.default_rng(0)
    logging, target = (rng.dirichlet([2.0, 3.0, 4.0], size=500) for _ in range(2))
    action = (logging.cumsum(axis=1) > rng.random((500, 1))).argmax(axis=1)
    log = cf.Log(
        context=rng.normal(size=(500, 2)), action=action, reward=action + rng.normal(size=500), logging_probs=logging
    )
    shown = write(cf.evaluate(log, target, "paper", "ocv:splits=2"))
    assert len(shown.answer["table"]) == 191
    assert shown.path.stat().st_size < 2e6
    page = visit(shown.path, PHONE)
    assert page.locator("figure", has_text="Validation losses").locator("svg").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
