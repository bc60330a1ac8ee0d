"""Reports: results in words, as numbers, and as one self-contained HTML page.

>>> from sklearn.datasets import load_iris
>>> from lorenyi import report
>>> from lorenyi.selection import InformationSelector
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> selector = InformationSelector(2).fit(X, y)
>>> print(report.selection(selector, X, y, target="species").answer[0])
The 2 most informative of 4 columns about species are petal width (cm) and sepal width (cm).

``report.selection(selector, X, y).save("iris.html")`` writes the page: no outside address, works
offline, under 1.5 MB.
"""

from lorenyi.report.amounts import measure
from lorenyi.report.chosen import selection
from lorenyi.report.eigenvalues import spectrum
from lorenyi.report.finding import Finding
from lorenyi.report.overview import describe
from lorenyi.report.pairs import matrix
from lorenyi.report.tables import Table

__all__ = ["Finding", "Table", "describe", "matrix", "measure", "selection", "spectrum"]
