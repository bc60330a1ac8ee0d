"""Pictures, after scikit-learn's displays: `from_...(...)` measures, then `plot(ax=None)` draws.

Needs matplotlib, which ``pip install "lorenyi[plots]"`` brings; it is imported when something is
drawn.
"""

from lorenyi.inference.picture import PermutationDisplay
from lorenyi.plots.layers import LayerProfileDisplay, LayerSimilarityDisplay
from lorenyi.plots.matrix import InformationMatrixDisplay
from lorenyi.plots.plane import InformationPlaneDisplay
from lorenyi.plots.profile import EntropyProfileDisplay
from lorenyi.plots.rows import RowInformationDisplay
from lorenyi.plots.selection import RelevanceDisplay, SelectionPathDisplay
from lorenyi.plots.spectrum import SpectrumDisplay

__all__ = [
    "EntropyProfileDisplay",
    "InformationMatrixDisplay",
    "InformationPlaneDisplay",
    "LayerProfileDisplay",
    "LayerSimilarityDisplay",
    "PermutationDisplay",
    "RelevanceDisplay",
    "RowInformationDisplay",
    "SelectionPathDisplay",
    "SpectrumDisplay",
]
