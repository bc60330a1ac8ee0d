"""The quick scripts of the gallery run; `make docs` runs them all."""

import runpy

import pytest
from pages import ROOT

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

QUICK = [  # one of each section
    "measure/plot_order_and_rank.py",
    "select/plot_00_messy_table.py",
    "decide/plot_two_samples.py",
    "scale/plot_certified.py",
    "learn/plot_paper_figure.py",
]


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
@pytest.mark.parametrize("script", QUICK)
def test_the_script_runs_and_draws(script):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    runpy.run_path(str(ROOT / "examples/gallery" / script))
    assert pyplot.get_fignums()
    pyplot.close("all")
