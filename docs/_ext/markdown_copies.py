"""Point links out of docs/ at the repository, and write each page as Markdown next to its HTML.

`llms.txt` names these copies.
"""

import re
import shutil
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

_OUTSIDE = re.compile(r"\]\((?:\.\./)+(?!\.)([^)\s]*)\)")


def lead_outside(app: Sphinx, docname: str, source: list[str]) -> None:
    """Point links to files outside docs/ at the repository."""
    depth = len(PurePosixPath(docname).parents) - 1

    def resolve(match: re.Match[str]) -> str:
        if match[0].count("../") <= depth:
            return match[0]
        return f"]({app.config.repository_files}{match[1]})"

    source[0] = _OUTSIDE.sub(resolve, source[0])


def copy_pages(app: Sphinx, failed: Exception | None) -> None:
    """Write the Markdown of each page next to its HTML, with its pictures."""
    if failed or app.builder.format != "html":
        return
    for docname in app.env.found_docs:
        source = [Path(app.srcdir, f"{docname}.md").read_text("utf-8")]
        app.emit("source-read", docname, source)
        copy = Path(app.outdir, f"{docname}.md")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source[0], "utf-8")
    for picture in app.env.images:
        copy = Path(app.outdir, picture)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(app.srcdir, picture), copy)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add both steps to a build."""
    app.add_config_value("repository_files", "", "env")
    app.connect("source-read", lead_outside)
    app.connect("build-finished", copy_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
