"""The picture of the front page: python docs/picture.py writes docs/pictures/breast.png."""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from lorenyi.plots import InformationMatrixDisplay, SelectionPathDisplay
from lorenyi.selection import InformationSelector


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    selector = InformationSelector(8).fit(X, y)
    SelectionPathDisplay.from_estimator(selector, X, y).plot(ax=left)
    InformationMatrixDisplay.from_data(X.iloc[:, :10]).plot(ax=right)
    out = Path(__file__).parent / "pictures" / "breast.png"
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main()
