"""Owns how docs/ becomes a site: Sphinx, MyST for Markdown, furo; nothing is loaded from other hosts."""

from __future__ import annotations

import re

from pygments.lexers.shell import BashSessionLexer
from sphinx.application import Sphinx

import scaly_viz

project = "scaly-viz"
release = scaly_viz.__version__
copyright = "the authors of scaly-viz, Apache-2.0"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_heading_anchors = 4  # links to headings work here as they do where the Markdown is shown
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"show-inheritance": True}
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"scaly-viz {release}"
html_show_sourcelink = False
html_copy_source = False
html_static_path: list[str] = []
pygments_style = "default"
pygments_dark_style = "github-dark"


class Console(BashSessionLexer):
    """Of a console's lines, only those behind a dollar are commands: a table may begin with ``#``."""

    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the lexer."""
    app.add_lexer("console", Console)
