"""How the pages are made: Sphinx, MyST, a gallery that runs. Nothing is fetched by the reader."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from sphinx_gallery.sorting import ExplicitOrder

import lorenyi

project = "lorenyi"
author = "the lorenyi developers"
release = version = lorenyi.__version__

extensions = [
    "commands",  # of docs/_ext
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# The last two are parts of pages.
exclude_patterns = [
    "_build",
    "**/GALLERY_HEADER.rst",
    "compare_selectors.md",
    "generated/commands.md",
]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
html_theme = "pydata_sphinx_theme"
html_title = "lorenyi"
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "lorenyi"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["theme-switcher"],
    "footer_end": ["sphinx-version"],
    "github_url": "https://github.com/lorenyi/lorenyi",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "commands": []}  # these have nothing below them

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

GALLERY = ("measure", "select", "decide", "scale", "learn")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": ExplicitOrder(
        [
            f"../examples/gallery/{part}"
            for part in ("measure", "select", "decide", "scale", "learn")
        ]
    ),
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "copyfile_regex": "",
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 3600,
    "write_computation_times": False,  # its page would fetch scripts from elsewhere
}

toc_object_entries_show_parents = "hide"
autosummary_generate = True
autodoc_typehints = "none"  # types are in the text
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "set_fit_request"}  # scikit-learn's
napoleon_google_docstring = False
# As ordinary text, since a field name that ends in _ would be read as a reference.
napoleon_custom_sections = [("Attributes", "returns_style")]
default_role = "code"


def mathml(formula: str, block: bool = False) -> str:
    """Return MathML. The converter knows Bigl and Bigr but not Big, and ldots but not dots."""
    formula = re.sub(r"\\([Bb])ig(?=[(\[])", r"\\\1igl", formula)
    formula = re.sub(r"\\([Bb])ig(?=[)\]])", r"\\\1igr", formula)
    formula = re.sub(r"\\[Bb]ig(?=\s*\|)", "", formula).replace(r"\dots", r"\ldots")
    return str(tex2mathml(formula, as_block=block))


def inline(self: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw themselves: no script, no fonts."""
    self.body.append(mathml(node.astext()))
    raise SkipNode


def block(self: Any, node: Any) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>\n')
    raise SkipNode


BAR = re.compile(r"(:math:`[^`]*`|``.*?``|`[^`]*`)|(?<!\\)\|")


def escape_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep |x| in docstrings from being read as a reference; formulas and code stay as they are."""
    literal = None  # the indentation that began a formula or an example
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if line.lstrip().startswith((".. math::", ">>>")):
            literal = indent if line.lstrip().startswith("..") else None
            continue
        if literal is None:
            lines[i] = BAR.sub(lambda m: m.group(1) or r"\|", line)


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("autodoc-process-docstring", escape_bars)
