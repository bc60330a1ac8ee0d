"""How the pages are made: Sphinx, furo, MyST. Nothing is fetched, neither now nor by the reader."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import lorenyi

project = "lorenyi"
author = "the lorenyi developers"
release = version = lorenyi.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "compare_selectors.md"]  # the latter is part of a page
html_theme = "furo"
html_title = "lorenyi"
html_copy_source = False
html_show_copyright = False
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # types are in the text
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "set_fit_request"}  # scikit-learn's
napoleon_google_docstring = False
napoleon_use_ivar = True
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
