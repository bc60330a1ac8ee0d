"""Which columns hold categories, and which numbers."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lorenyi as lr
from lorenyi.data.kinds import is_categorical
from lorenyi.data.reading import read_columns

RNG = np.random.default_rng(0)
N = 400
DAY = datetime.date(2020, 1, 1)
COLUMNS = {
    "class labels": (RNG.integers(0, 3, N), True),
    "digits": (RNG.integers(0, 10, N), True),
    "ratings": (RNG.integers(1, 6, N).astype(float), True),
    "truth values": (RNG.random(N) < 0.5, True),
    "text": (RNG.choice(["red", "green"], N), True),
    "codes of many levels in text": (np.array([f"c{i}" for i in RNG.integers(0, 90, N)]), True),
    "numbers as objects": (RNG.normal(size=N).astype(object), False),
    "labels as objects": (RNG.integers(0, 3, N).astype(object), True),
    "ages": (RNG.integers(18, 90, N), False),
    "counts": (RNG.poisson(20, N), False),
    "years": (RNG.integers(1950, 2020, N), False),
    "prices": (RNG.integers(1000, 99_999, N), False),
    "prices with cents": (RNG.integers(100, 9999, N) / 100, False),
    "zip codes": (RNG.integers(10_000, 99_999, N), False),
    "identifiers": (np.arange(N), False),
    "months": (RNG.integers(1, 13, N), False),
    "floats of few values": (RNG.choice([0.25, 0.5], N), False),
    "dates": (np.array([DAY + datetime.timedelta(days=int(i)) for i in range(N)]), False),
    "two dates": (np.array([DAY, DAY + datetime.timedelta(days=7)] * (N // 2)), False),
    "timestamps": (np.datetime64("2020-01-01") + RNG.integers(0, 999, N).astype("m8[us]"), False),
    "durations": (RNG.integers(0, 999, N).astype("m8[us]"), False),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_seen_for_what_it_holds_in_every_container(name):
    values, categorical = COLUMNS[name]
    kernel = "Delta" if categorical else "Gaussian"
    forms = [
        values,
        values[:, None],
        values.tolist(),
        pd.Series(values),
        pd.DataFrame({"v": values}),
    ]
    if values.dtype != object or isinstance(values[0], datetime.date):
        forms += [pl.Series(values), pl.DataFrame({"v": values})]
    for form in forms:
        assert kernel in repr(lr.gram(form)), type(form)
    assert read_columns(pd.DataFrame({"v": values}))[0].categorical is categorical


@pytest.mark.parametrize(
    "name", ["ages", "prices", "zip codes", "identifiers", "dates", "two dates"]
)
def test_what_has_nothing_to_do_with_a_coin_shares_next_to_nothing_with_it(name):
    coin = np.random.default_rng(1).integers(0, 2, N)
    assert float(lr.mutual_information(COLUMNS[name][0], coin)) < 0.02


def test_a_frame_says_which_of_its_columns_are_what():
    table = pd.DataFrame({name: COLUMNS[name][0] for name in ("ages", "prices", "text", "digits")})
    found = repr(lr.entropy(table))
    assert "x[ages, prices]: Gaussian(sigma=(" in found
    assert "x[digits, text]: Delta()" in found


def test_columns_of_a_frame_have_units_of_their_own():
    """A column in another unit changes nothing."""
    x = RNG.normal(size=(N, 2))
    y = x[:, 0] > 0
    table = pd.DataFrame(x, columns=["a", "b"])
    expected = lr.mutual_information(table, y)
    found = lr.mutual_information(table.assign(b=1000 * table["b"]), y)
    assert float(found) == pytest.approx(float(expected), abs=1e-9)


def test_categories_that_tell_most_rows_apart_are_warned_of_with_the_chance_level():
    names, coin = [f"id{i}" for i in range(300)], np.random.default_rng(1).integers(0, 2, 300)
    with pytest.warns(UserWarning, match=r"x has 300 categories in 300 rows.*share 0\.99\d bits"):
        lr.mutual_information(names, coin)
    with pytest.warns(UserWarning, match="y has 300 categories"):
        lr.normalized_mutual_information(coin, names)


def test_the_chance_level_of_weighted_rows_is_told():
    names, coin = [f"id{i}" for i in range(20)], np.arange(20) % 2
    with pytest.warns(UserWarning, match="x has 20 categories in 20 rows"):
        lr.mutual_information(names, coin, weights=1 + np.arange(20) % 3)


def test_several_columns_of_an_array_are_one_vector():
    for table in (RNG.integers(0, 2, (N, 5)), RNG.random((N, 5)) < 0.5):
        assert "Gaussian" in repr(lr.gram(table))


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0], [0, 1, 2], [1.0, 0.5, 0.5], []])
def test_few_values(values):
    values = np.asarray(values)
    assert is_categorical(values) is (values.dtype.kind == "i")


def test_the_whole_column_counts_not_its_first_rows():
    values = np.concatenate([np.zeros(5000, dtype=int), np.arange(40)])
    assert not is_categorical(values)
    assert is_categorical(np.concatenate([np.zeros(5000, dtype=int), np.arange(4)]))
