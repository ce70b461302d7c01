"""Show sessions of Python as sessions: prompts and answers look different, and prompts are not copied."""


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return a page whose blocks of Python that begin with a prompt are called sessions."""
    return markdown.replace("```python\n>>> ", "```pycon\n>>> ")
