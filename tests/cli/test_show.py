"""Tables on terminals of different widths."""

import pytest

from lorenyi.cli import show
from lorenyi.report import Finding, Table

NAMES = ["worst concave points", "mean fractal dimension error", "area"]
ROWS = [[a, b, 0.123456, 0.01, "yes"] for a in NAMES for b in NAMES if a != b]
FINDING = Finding(
    question="?",
    answer=["Answer."],
    facts=[],
    table=Table(["column", "and", "bits", "std. error", "significant"], ROWS),
    settings={},
)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_a_row_takes_one_line_at_any_width(width, monkeypatch):
    monkeypatch.setattr(show, "_width", lambda: width)
    lines = show.as_text(FINDING).rstrip().splitlines()
    body = lines[-len(ROWS) :]
    assert all(len(line) <= width for line in lines)
    assert all("0.1235" in line and "yes" in line for line in body)
    assert ("…" in "".join(body)) == (width < 100)


def test_names_keep_both_ends(monkeypatch):
    monkeypatch.setattr(show, "_width", lambda: 60)
    text = show.as_text(FINDING)
    assert "worst" in text
    assert "ints" in text


def test_a_narrow_terminal_shows_names_rather_than_distributions(monkeypatch):
    table = Table(["column", "distribution"], [["n" * 40, "0 ▁▄█ 9"]])
    finding = Finding(question="?", answer=["Answer."], facts=[], table=table, settings={})
    monkeypatch.setattr(show, "_width", lambda: 28)
    text = show.as_text(finding)
    assert "▄" not in text
    assert "nnnn…nnnn" in text
    monkeypatch.setattr(show, "_width", lambda: 80)
    assert "▄" in show.as_text(finding)
