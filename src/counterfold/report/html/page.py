"""Page: a report as one file that needs nothing else."""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from counterfold.base import standard_json
from counterfold.base.progress import Progress
from counterfold.report.html.blocks import Block
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections import Section, list_sections

UNSAFE: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
"""Characters that could end a script, and how JSON writes them otherwise."""


class Written(NamedTuple):
    """A section with its blocks."""

    key: str
    number: int
    title: str
    blocks: Sequence[Block]


class Chapter(NamedTuple):
    """Sections that belong together; those about one of several cases have a title."""

    title: str
    key: str
    sections: Sequence[Written]


def render(report: Report, move: Progress) -> str:
    """Return the page; `move` is told how many pieces of it are done: its script, and its chapters."""
    environment = Environment(
        loader=PackageLoader("counterfold.report.html"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["embed"] = embed
    environment.filters["anchor"] = anchor
    environment.filters["mark_names"] = mark_names
    styles, script, bundle = read("style.css"), read("script.js"), load_bundle()
    chapters, pieces = [], 3 + len(report.chapters)  # two are about all cases
    move(1, pieces)
    for chapter in list_chapters(report):
        chapters.append(chapter)
        move(1 + len(chapters), pieces)
    return environment.get_template("page.html").render(
        report=report,
        chapters=chapters,
        styles=Markup(styles),  # noqa: S704 (a file of the package)
        script=Markup(script),  # noqa: S704 (a file of the package)
        bundle=Markup(bundle),  # noqa: S704 (Vega, from its package)
        policy=make_policy([script, bundle], [styles]),
        answer=embed(json.loads(standard_json.write_answer(report.answer))),
    )


def list_chapters(report: Report) -> Iterator[Chapter]:
    """Yield the sections about all cases, those about each, and those about all that come last."""
    sections = list_sections(report)
    numbers = {one: number for number, one in enumerate(sections, 1)}
    apart = [one for one in sections if not one.is_common]
    first, last = apart[0].order, apart[-1].order

    def write(chosen: Sequence[Section], case: Case) -> list[Written]:
        blocks = {one: [block for block in one.build(report, case) if block is not None] for one in chosen}
        keys = {one: one.key if one.is_common else report.find_key(one.key, case) for one in chosen}
        return [Written(keys[one], numbers[one], one.title, blocks[one]) for one in chosen]

    yield Chapter("", "", write([one for one in sections if one.order < first], report.first))
    for place, case in enumerate(report.chapters, 1):
        title = case.title if len(report.cases) > 1 else ""
        yield Chapter(title, f"case-{place}", write(apart, case))
    yield Chapter("", "", write([one for one in sections if one.order > last], report.first))


def embed(value: Any) -> Markup:
    r"""Return JSON that is safe within a page: no tag can end or start in it; what is not finite is null.

    >>> print(embed({"label": "</script>", "score": float("nan")}))
    {"label":"\u003c/script\u003e","score":null}
    """
    finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
    text = json.dumps(finite, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.translate(str.maketrans(UNSAFE)))  # noqa: S704 (that is what this is for)


def mark_names(words: str) -> Markup:
    """Return a sentence in which what stands between backticks is set as code; everything else is escaped.

    >>> print(mark_names("column `a<b` is no context"))
    column <code>a&lt;b</code> is no context
    """
    parts = words.split("`")
    if len(parts) % 2 == 0:  # a backtick of the data
        return escape(words)
    marked = (Markup("<code>{}</code>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts))
    return Markup("").join(marked)


def anchor(name: str) -> str:
    """Return a name that links can lead to."""
    return "".join(one if one.isalnum() else "-" for one in name)


def make_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the content-security policy: nothing but these scripts and styles may run, and nothing may be fetched."""
    allowed = [" ".join(map(hash_text, several)) for several in (scripts, styles)]
    rest = "img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed[0]}; style-src {allowed[1]}; {rest}"


def hash_text(text: str) -> str:
    """Return the hash by which a content-security policy knows a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def read(name: str) -> str:
    """Return a file of the templates."""
    from importlib.resources import files

    return (files("counterfold.report.html") / "templates" / name).read_text(encoding="utf-8")


@cache
def load_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which no text in it can end."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
