"""What notebooks show: the same numbers as `repr`, escaped, and well-formed."""

from xml.etree import ElementTree

import numpy as np
import pytest

import lorenyi as lr
from lorenyi.selection import InformationSelector

A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))


def shown(value):
    """Return the text and the drawn elements of what a notebook shows."""
    page = ElementTree.fromstring(value._repr_html_())
    return "|".join(page.itertext()), page


def test_an_amount_shows_its_kernels():
    text, _ = shown(lr.mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"]))
    assert text == "1.0 bits|kernel| x: Delta()|kernel| y: Delta()"


def test_an_estimate_shows_its_interval_and_its_bounds():
    text, page = shown(lr.Estimate.within(1.0, 1.25, 2.0, failure=1e-9, about=("x: Delta()",)))
    assert text.startswith("1.25 bits, computed within [1, 2]|kernel|")
    assert "fails with p <= 1e-09" in text
    assert page.find(".//circle") is None
    text, page = shown(lr.entropy(np.linspace(0, 1, 50)))
    assert "95 % interval" in text
    assert float(page.find(".//circle").get("cx")) == pytest.approx(60)
    text, _ = shown(lr.Estimate.within(1.0, 1.0, 1.0))
    assert "proven" in text


def test_a_spectrum_is_drawn():
    spectrum = lr.Exact()(A)
    text, page = shown(spectrum)
    heights = [float(bar.get("height")) for bar in page.iter("rect")]
    values = spectrum.values[: len(heights)]
    assert heights[:5] == pytest.approx((36 * values / values[0])[:5], abs=0.06)
    assert f"{values[0]:.4g}" in text
    low = spectrum.low_rank(3)
    _, page = shown(low)
    assert len(list(page.iter("rect"))) == 40  # of 50: the tail has a count


def test_a_gram_names_its_points_and_kernels():
    text, _ = shown(A * lr.gram(["u", "v"] * 25))
    assert text == "Gram of 50 points|kernel| Gaussian(sigma=1)|kernel| Delta()"


def test_names_are_escaped():
    text, page = shown(lr.Estimate(1.0, about=("<script>alert(1)</script>",)))
    assert "<script>alert(1)</script>" in text
    assert page.find(".//script") is None


def test_the_selector_is_drawn_by_scikit_learn():
    assert "InformationSelector" in InformationSelector(2)._repr_html_()
