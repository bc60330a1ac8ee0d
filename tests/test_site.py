"""The parts of the site that are made by code: names with underscores, and the command's help."""

import inspect
import sys

import pytest

pytest.importorskip("sphinx")
from docutils.core import publish_string
from pages import ROOT
from sphinx.ext.napoleon import Config, NumpyDocstring

from lorenyi.selection import InformationSelector


def test_the_reference_keeps_the_underscore_of_learned_names():
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    line = next(line for line in conf.splitlines() if line.startswith("napoleon_custom_sections"))
    config = Config(napoleon_custom_sections=eval(line.partition("=")[2]))
    text = str(NumpyDocstring(inspect.getdoc(InformationSelector) or "", config, what="class"))
    part = text[text.index(":Attributes:") : text.index(".. rubric:: Notes")]
    page = publish_string(part, writer="html5", settings_overrides={"report_level": 5}).decode()
    assert "<strong>indices_</strong>" in page
    assert "<strong>scores_, standard_errors_</strong>" in page


def test_the_help_of_the_command_is_plain_and_lists_its_commands(monkeypatch):
    pytest.importorskip("typer")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import commands

    text = commands.help_of()
    assert {"select", "measure", "matrix", "spectrum"} <= set(commands.names(text))
    assert "\x1b" not in text
    with pytest.raises(ValueError, match="no commands"):
        commands.names("Usage: lorenyi")
    sys.modules.pop("commands")
