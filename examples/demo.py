"""Which columns of a table tell most about its target, and which merely repeat one another?

Run it with `make demo`. Breast-cancer data of scikit-learn: 569 tumours, 30 measurements, one
diagnosis. No bins, no model, no training: one mutual information for each column.
"""

import time

import numpy as np
from sklearn.datasets import load_breast_cancer

import lorenyi as lr

WIDTH = 32  # characters of the longest bar


def bar(value: float, longest: float) -> str:
    """Draw a value as a bar, to an eighth of a character."""
    eighths = round(8 * WIDTH * max(value, 0.0) / longest)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def main() -> None:
    """Rank the columns, then look for the best companion of the winner."""
    table = load_breast_cancer()
    X, names = table.data, [str(name) for name in table.feature_names]
    diagnosis = table.target_names[table.target]
    start = time.perf_counter()

    print(f"\n{len(X)} tumours, {len(names)} measurements. What does each tell of the diagnosis?")
    print(f"The diagnosis itself holds {lr.entropy(diagnosis):.3f} bits.\n")
    alone = np.array([float(lr.mutual_information(column, diagnosis)) for column in X.T])
    order = np.argsort(-alone)
    print("      measurement               bits")
    for place, j in enumerate(order, start=1):
        print(f"  {place:2d}  {names[j]:<24}  {alone[j]:.3f}  {bar(alone[j], alone.max())}")

    first, second = order[:2]
    pair = np.array([float(lr.mutual_information((X[:, first], x), diagnosis)) for x in X.T])
    adds = pair - alone[first]
    best = max((j for j in order if j != first), key=lambda j: adds[j])
    quiet = max(order[len(order) // 2 :], key=lambda j: adds[j])
    print(f"\nGiven {names[first]}, what does a second measurement add?\n")
    print("      measurement              alone   adds")
    for j, remark in [
        (first, "itself again: the yardstick for adding nothing new"),
        (second, "second above, yet redundant"),
        (quiet, "low above, yet complementary"),
        (best, "the best companion"),
    ]:
        print(f"      {names[j]:<24} {alone[j]:.3f}  {adds[j]:.3f}  {remark}")
    print(f"\n{2 * len(names)} mutual informations in {time.perf_counter() - start:.1f} s.\n")


if __name__ == "__main__":
    main()
