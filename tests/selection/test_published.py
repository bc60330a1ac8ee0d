"""The selections published with the paper, all ten positions."""

import os
from pathlib import Path

import numpy as np
import pytest

from lorenyi import Renyi
from lorenyi.selection import (
    CMIM,
    DISR,
    FOU,
    JMI,
    MIFS,
    MRMR,
    InformationSelector,
    JointInformation,
)

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LORENYI_DATA", ROOT.parent / "shared" / "data"))

needs_data = pytest.mark.skipif(
    not (DATA / "breast.npz").exists(),
    reason=f"no tables in {DATA}: say where they are with LORENYI_DATA",
)
pytestmark = needs_data

DISCRETE = {"krvskp", "semeion", "madelon"}
PUBLISHED = [
    ("breast", MIFS(), "22 27 1 28 19 11 18 4 14 13"),
    ("breast", FOU(), "22 24 9 14 29 3 19 18 4 11"),
    ("breast", MRMR(), "22 24 7 1 13 27 28 23 26 10"),
    ("breast", JMI(), "22 24 23 27 7 20 13 26 3 6"),
    ("breast", CMIM(), "22 24 27 21 7 9 13 26 1 3"),
    ("breast", DISR(), "22 20 23 3 2 0 27 7 6 26"),
    ("krvskp", MIFS(), "20 9 32 31 15 8 2 27 24 11"),
    ("krvskp", FOU(), "20 9 32 31 14 0 33 8 1 15"),
    ("krvskp", MRMR(), "20 9 32 31 14 7 15 17 5 26"),
    ("krvskp", JMI(), "20 9 32 31 14 7 6 15 17 5"),
    ("krvskp", CMIM(), "20 9 32 31 14 7 15 5 17 21"),
    ("krvskp", DISR(), "20 9 32 31 28 15 13 7 26 14"),
    ("waveform", MIFS(), "6 10 16 33 28 39 36 21 23 31"),
    ("waveform", JMI(), "6 10 14 15 4 9 5 16 11 7"),
    ("madelon", JMI(), "105 453 64 442 153 475 338 455 378 493"),
    ("breast", JointInformation(entropy=Renyi(2, 100)), "27 20 21 7 10 22 29 26 1 23"),
    ("breast", JointInformation(entropy=Renyi(2)), "27 20 21 7 10 22 29 26 1 23"),
    ("krvskp", JointInformation(entropy=Renyi(1.01, 200)), "20 9 32 31 5 34 14 0 33 13"),
    ("krvskp", JointInformation(entropy=Renyi(1.01)), "20 9 32 31 5 34 14 0 33 6"),
]


def name(criterion):
    if not isinstance(criterion, JointInformation):
        return type(criterion).__name__
    return "MRMI" if criterion.entropy.rank is None else "LRMI"


@pytest.mark.parametrize(
    ("table", "criterion", "features"),
    [pytest.param(*case, id=f"{case[0]} {name(case[1])}") for case in PUBLISHED],
)
def test_the_published_selection_comes_out(table, criterion, features):
    with np.load(DATA / f"{table}.npz") as data:
        X, y = data["X"].astype(np.float64), data["y"]
    categories = [14] if table == "krvskp" else None
    if table in DISCRETE and criterion.entropy is None:
        categories = range(X.shape[1])
    selector = InformationSelector(
        10,
        criterion=criterion,
        categorical_features=categories,
    )
    assert selector.fit(X, y).indices_.tolist() == [int(j) for j in features.split()]
