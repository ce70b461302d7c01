"""The text of pages: what a reader of a report or of a notebook sees, without what a browser makes of it."""

from html.parser import HTMLParser

UNREAD = {"script", "style", "svg", "template"}
"""What holds no text for readers."""

BLOCKS = {
    *("address", "article", "aside", "body", "caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure"),
    *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "li", "main", "nav", "ol", "p"),
    *("pre", "section", "summary", "table", "tbody", "tfoot", "thead", "title", "tr", "ul", "br"),
}
"""What begins a new line."""


class Reader(HTMLParser):
    """Collects the texts of a page, a line for each block."""

    def __init__(self):
        super().__init__()
        self.lines = [""]
        self.n_unread = 0

    def handle_starttag(self, tag, _attributes):
        if tag in UNREAD:
            self.n_unread += 1
        if tag in BLOCKS:
            self.lines.append("")
        else:
            self.lines[-1] += " "

    def handle_endtag(self, tag):
        if tag in UNREAD:
            self.n_unread = max(0, self.n_unread - 1)
        if tag in BLOCKS:
            self.lines.append("")
        else:
            self.lines[-1] += " "

    def handle_data(self, data):
        if not self.n_unread:
            self.lines[-1] += data


def read_page(page):
    """Return the text of a page, a line for each block, with white space collapsed.

    >>> read_page("<p>one <b>two</b><script>three</script></p><p>four</p>")
    'one two\\nfour\\n'
    """
    reader = Reader()
    reader.feed(page)
    reader.close()
    lines = [" ".join(line.split()) for line in reader.lines]
    return "".join(f"{line}\n" for line in lines if line)
