"""Which measurements of a tumor are most informative about the diagnosis, together?

Run it with `make demo`. Breast-cancer data of scikit-learn: 569 tumors, 30 measurements, one
diagnosis. The path of the search is shown here, and drawn to a file where matplotlib is installed.
"""

import time
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from lorenyi.selection import InformationSelector

WIDTH = 32  # characters of the longest bar
PICTURE = Path("build") / "selection_path.png"


def bar(value: float, longest: float) -> str:
    """Draw a value as a bar, to an eighth of a character."""
    eighths = round(8 * WIDTH * max(value, 0.0) / longest)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def show(selector: InformationSelector, names: list[str]) -> None:
    """Print each step: the feature, the information of all so far, its standard error, and ties."""
    path = selector.path_
    longest = max(step.score for step in path)
    print("      measurement              bits            adds")
    for place, step in enumerate(path, start=1):
        number = f"{step.score:.3f} ± {step.standard_error:.3f}"
        drawn = bar(step.score, longest)
        print(f"  {place:2d}  {names[step.feature]:<23}  {number}  {step.gain:+.3f}  {drawn}")
    print("\nWithin a standard error of the chosen one:")
    for place, step in enumerate(path, start=1):
        if len(step.ties):
            others = [names[int(i)] for i in step.ties[:3]]
            print(f"  {place:2d}  {', '.join(others)}{', ...' if len(step.ties) > 3 else ''}")


def draw(selector: InformationSelector, names: list[str]) -> str:
    """Draw the path to a file; return a line that says where, or what is missing."""
    from lorenyi.plots import SelectionPathDisplay

    display = SelectionPathDisplay.from_estimator(selector, feature_names=names)
    try:
        display.plot()
    except ImportError as missing:
        return f"No picture: {missing}"
    PICTURE.parent.mkdir(exist_ok=True)
    display.figure_.savefig(PICTURE, dpi=150)
    return f"The path is drawn in {PICTURE}"


def main() -> None:
    """Choose measurements, show the path, draw it."""
    table = load_breast_cancer()
    X, y, names = table.data, table.target, [str(name) for name in table.feature_names]
    print(f"\n{len(X)} tumors, {len(names)} measurements. Which are most informative about the")
    print("diagnosis, together? Each step adds the measurement that gives the set the most")
    print("information, until the best one left is not significant at 5 %.\n")
    start = time.perf_counter()
    selector = InformationSelector().fit(X, y)
    seconds = time.perf_counter() - start
    show(selector, names)
    print(f"\nChosen in {seconds:.2f} s. The diagnosis has {selector.target_entropy_:.3f} bits.")
    print(f"{draw(selector, names)}\n")


if __name__ == "__main__":
    main()
