"""Show the changelog, the security policy and the licence, which lie beside docs/, as pages of the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

NAMES = ("CHANGELOG.md", "SECURITY.md", "LICENSE")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the project's own files to those of docs/."""
    root = Path(config.config_file_path).parent
    for name in NAMES:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return a page whose links lead from the site's root: these files are one folder lower there."""
    if page.file.src_path in NAMES:
        return markdown.replace("](docs/", "](")
    for name in NAMES:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    return markdown
