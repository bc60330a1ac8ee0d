"""The page: answer, pictures, tables and settings in one file that loads nothing from the network.

Names and values of a table are data. They go into the page as escaped text, or as JSON in which
no character can end the element that holds it, and the script puts them on the page as text only.
A content security policy allows this style and this script, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import tempfile
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lorenyi import __version__
from lorenyi.report.tables import LONGEST, table_section

if TYPE_CHECKING:
    from lorenyi.report.finding import Finding


def page(finding: Finding) -> str:
    """Return the page of a finding."""
    style, script = _asset("page.css"), _asset("page.js")
    sections = [*finding.sections()]
    if finding.columns is not None:
        sections.append(
            table_section("Columns", "How each column was read.", finding.columns, closed=True)
        )
    parts = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "title": _text(finding.question),
        "headline": _text(finding.answer[0]),
        "answer": "".join(f"<p>{_text(sentence)}</p>" for sentence in finding.answer[1:]),
        "facts": "".join(
            f"<div><dd>{_text(value)}</dd><dt>{_text(name)}</dt></div>"
            for value, name in finding.facts
        ),
        "caution": _text(finding.caution),
        "notes": _notes(finding.notes),
        "settings": _pairs({k: _shown(v) for k, v in finding.settings.items()}),
        "versions": _pairs(versions()),
        "code": _code("Command", finding.command) + _code("Python", finding.python),
        "data": embedded({"sections": sections}),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def embedded(value: Any) -> str:
    r"""Return JSON that is safe inside a script element of an HTML page.

    Examples
    --------
    >>> from lorenyi.report.page import embedded
    >>> embedded(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def versions() -> dict[str, str]:
    """Return the versions of what the numbers depend on."""
    found = {"lorenyi": __version__}
    for name in ("numpy", "scipy", "scikit-learn", "polars"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {**found, "python": platform.python_version(), "system": platform.platform()}


def write(text: str, path: Path) -> None:
    """Write a file atomically."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            # A name can hold half of a surrogate pair, which UTF-8 cannot encode.
            file.write(text.encode("utf-8", "replace").decode())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _asset(name: str) -> str:
    return files("lorenyi.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _text(value: str) -> str:
    return escape(shortened_words(value))


def shortened_words(value: str) -> str:
    """Truncate words of hundreds of characters."""
    return re.sub(rf"\S{{{LONGEST},}}", lambda found: f"{found[0][: LONGEST - 1]}…", value)


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        text = ", ".join(map(str, value)) or "none"
        return text if len(text) <= 2000 else f"{text[:2000]} …"
    return "none" if value is None else str(value)


def _pairs(pairs: dict[str, str]) -> str:
    return "".join(f"<dt>{_text(name)}</dt><dd>{_text(v)}</dd>" for name, v in pairs.items())


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    return f"<ul class='notes'>{''.join(f'<li>{_text(note)}</li>' for note in notes)}</ul>"


def _code(title: str, text: str) -> str:
    if not text:
        return ""
    return (
        f"<div class='code'><h3>{title}</h3><button type='button' class='copy'>Copy</button>"
        f"<pre tabindex='0'><code>{escape(text)}</code></pre></div>"
    )
