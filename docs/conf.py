"""The site of these pages: `python -m sphinx -W -b html docs build/site`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "Chameleon"
author = "The Chameleon contributors"
copyright = "The Chameleon contributors"
extensions = ["myst_parser", "markdown_copies"]
exclude_patterns = ["_ext"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# A line that begins with "%" is text, as on GitHub, and no comment.
myst_disable_syntax = ["myst_line_comment"]
repository = "https://github.com/chameleon-compose/chameleon"
repository_files = f"{repository}/blob/main/"

# Quotes and dashes are copied from these pages into files and terminals.
smartquotes = False

html_theme = "furo"
html_title = "Chameleon"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_theme_options = {
    "source_repository": f"{repository}/",
    "source_branch": "main",
    "source_directory": "docs/",
}
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
