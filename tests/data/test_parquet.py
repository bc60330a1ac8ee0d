"""Parquet files give the answers of the frames that they hold."""

import sys

import limits
import numpy as np
import pandas as pd
import pytest

import lorenyi as lr
from lorenyi.data.streams import Stream

pytestmark = pytest.mark.usefixtures("few_count_as_many")


def points(n=400, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


X, LABELS = points(), np.random.default_rng(5).integers(0, 3, size=400)


@pytest.fixture
def table(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["word"] = np.array(["red", "green", "blue"])[LABELS]
    frame["label"] = LABELS
    for i, part in enumerate((frame[:150], frame[150:])):
        part.to_parquet(tmp_path / f"part-{i}.parquet", row_group_size=70)
    return frame, tmp_path


def test_a_parquet_data_set_gives_the_answer_of_the_frame(table):
    import pyarrow.dataset as ds

    frame, path = table
    x = lr.data.parquet(path, ["a", "b"])
    assert isinstance(x.numbers, Stream)
    assert len(x.numbers.tasks) == 7
    H = lr.Renyi(2, 10)
    for columns in ("word", "label"):
        here = lr.mutual_information(frame[["a", "b"]], frame[columns], entropy=H)
        there = lr.mutual_information(x, lr.data.parquet(path, columns), entropy=H)
        assert float(there) == pytest.approx(float(here), abs=1e-8)
    mixed = lr.gram(ds.dataset(path))
    assert [repr(f.kernel)[:5] for f in mixed.factors] == ["Gauss", "Delta"]
    assert float(H(mixed)) == pytest.approx(float(H(lr.gram(frame))), abs=1e-8)


def test_a_missing_column_or_library_is_named(table, monkeypatch):
    _, path = table
    with pytest.raises(ValueError, match="no column 'c'; there are a, b, word, label"):
        lr.data.parquet(path, ["a", "c"])
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        lr.data.parquet(path)


def test_float32_rows_of_a_parquet_file_stream_through_pivots(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    x = points(900, 2, seed=5).astype(np.float32)
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1]}), tmp_path / "x.parquet", 300)
    H = lr.Renyi(1, solver=lr.PivotedCholesky(sample=300))
    with limits.seconds(60):
        found = H.certified(lr.gram(lr.data.parquet(tmp_path / "x.parquet"), lr.Gaussian(1.0)))
    assert lr.Renyi(1, solver=lr.Exact())(lr.gram(x.astype(float), lr.Gaussian(1.0))) in found
    assert found.width < 0.01
