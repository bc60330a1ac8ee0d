"""Dask: the same calls on a cluster, with the answers of memory, whatever the chunks."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import lorenyi as lr

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from lorenyi import _memory  # noqa: E402
from lorenyi import distributed as engine  # noqa: E402
from lorenyi.gram import structure  # noqa: E402
from lorenyi.gram.streamed import Streamed  # noqa: E402
from lorenyi.selection import InformationSelector  # noqa: E402

N = 600
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.random.default_rng(1).integers(0, 3, size=N)
CHUNKS = [(N,), (1, N - 1), (123, 77, 400), (100,) * 6]


@pytest.fixture
def small(monkeypatch):
    """Let a few hundred rows count as many, so that nothing is brought to one place unasked."""
    monkeypatch.setattr(structure, "WHOLE", 50)
    monkeypatch.setattr("lorenyi.spectra.search.SAMPLE", 80)
    monkeypatch.setattr("lorenyi.spectra.prover.SAMPLE", 80)


def chunked(array, lengths=(123, 77, 400)):
    return da.from_array(array, chunks=(lengths, *((2,) * (array.ndim - 1))))


# --------------------------------------------------------------------------------- the same answers


@pytest.mark.parametrize("lengths", CHUNKS, ids=str)
@pytest.mark.parametrize(
    "H",
    [
        lr.Renyi(2, 10, lr.Auto(tol=1e-2)),
        lr.Renyi(1, 10, lr.Auto(tol=1e-2, seed=3)),
        lr.Renyi(1.5, 10, lr.PivotedCholesky(tol=0.05, sample=80, seed=1)),
        lr.Renyi(2),
    ],
    ids=repr,
)
def test_chunks_do_not_change_an_answer(small, lengths, H):
    here = H.certified(lr.gram(X))
    there = H.certified(lr.gram(chunked(X, lengths)))
    assert float(there) == pytest.approx(float(here), abs=1e-8)
    assert [there.low, there.high] == pytest.approx([here.low, here.high], abs=1e-8)
    assert there.about == here.about


def test_a_matrix_free_iteration_multiplies_pairs_of_chunks(small):
    H = lr.Renyi(2, 5, lr.BlockLanczos(steps=3, block=4, single=False))
    A = lr.gram(chunked(X), lr.Gaussian(0.3))
    V = np.random.default_rng(2).normal(size=(N, 4))
    product = A @ V
    assert product == pytest.approx(lr.gram(X, lr.Gaussian(0.3)) @ V, abs=1e-15)
    assert float(H(A)) == pytest.approx(float(H(lr.gram(X, lr.Gaussian(0.3)))), abs=1e-8)


@pytest.mark.parametrize("alpha", [1, 2])
def test_measures_are_those_of_memory(small, alpha):
    H = lr.Renyi(alpha, 10, lr.Auto(tol=1e-2)).certified
    x, y, z = X[:, 0], Y, X[:, 1:]
    there = [chunked(v) for v in (x, y, z)]
    for measure, kept in ((lr.mutual_information, 2), (lr.conditional_mutual_information, 3)):
        here = measure(x, y, z, entropy=H) if kept == 3 else measure(x, y, entropy=H)
        found = measure(*there[:kept], entropy=H)
        assert float(found) == pytest.approx(float(here), abs=1e-8)
        assert found.width == pytest.approx(here.width, abs=1e-8)
    mixed = lr.mutual_information(there[0], y, entropy=H)  # labels in memory
    assert float(mixed) == pytest.approx(float(lr.mutual_information(x, y, entropy=H)), abs=1e-8)


def test_the_interval_holds_the_exact_value(small):
    exact = float(lr.Renyi(2, 10, lr.Exact())(lr.gram(X)))
    estimate = lr.Renyi(2, 10, lr.Auto(tol=2e-2)).certified(lr.gram(chunked(X)))
    assert exact in estimate
    assert 1e-9 < estimate.width <= 2e-2


def test_weights_may_be_chunked_too(small):
    w = np.random.default_rng(2).integers(0, 3, size=N)
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2))
    here = lr.mutual_information(X, Y, weights=w, entropy=H)
    for weights in (w, chunked(w)):
        there = lr.mutual_information(chunked(X), chunked(Y), weights=weights, entropy=H)
        assert float(there) == pytest.approx(float(here), abs=1e-8)


def test_equal_rows_fold_and_labels_are_counted_where_they_are(small):
    few = np.round(3 * X[:, :1])
    _, (block,) = lr.gram(chunked(few)).reduced
    assert len(block) == len(np.unique(few))
    assert lr.entropy(chunked(few)) == pytest.approx(float(lr.entropy(few)), abs=1e-12)
    words = np.array(["yes", "no", "perhaps"])[Y]
    assert lr.entropy(chunked(words)) == pytest.approx(float(lr.entropy(Y)), abs=1e-12)
    table = np.stack([Y, Y > 0], axis=1)
    delta = lr.gram(chunked(table), lr.Delta())
    assert lr.entropy(delta) == pytest.approx(float(lr.entropy(Y)), abs=1e-12)


# --------------------------------------------------------------------------------- data-frames


@pytest.fixture
def frame():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["word"] = pd.Series(np.array(["red", "green", "blue"])[Y]).astype("category")
    table["label"] = Y
    return table


def test_a_data_frame_and_its_columns_are_variables(small, frame):
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    there = dd.from_pandas(frame, npartitions=4)
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2))
    numbers = ["a", "b"]
    for target in ("word", "label", "c"):
        here = lr.mutual_information(frame[numbers], frame[target], entropy=H)
        found = lr.mutual_information(there[numbers], there[target], entropy=H)
        assert float(found) == pytest.approx(float(here), abs=1e-8)
        assert found.about == here.about
    mixed = H(lr.gram(there[["a", "word"]]))
    assert float(mixed) == pytest.approx(float(H(lr.gram(frame[["a", "word"]]))), abs=1e-8)


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pd.Series(Y).map(str).astype("string"), id="string"),
        pytest.param(pd.Series(Y, dtype="Int64"), id="Int64"),
        pytest.param(pd.Series(Y > 0, dtype="boolean"), id="boolean"),
        pytest.param(pd.Series(Y).astype("category"), id="category"),
        pytest.param(pd.Series(X[:, 0], dtype="Float64"), id="Float64"),
        pytest.param(pd.Series(X[:, 0], dtype=object), id="object float"),
        pytest.param(pd.to_datetime(pd.Series(Y), unit="D"), id="time"),
        pytest.param(pd.to_timedelta(pd.Series(Y), unit="D"), id="duration"),
    ],
)
def test_columns_of_every_kind_are_read_as_in_memory(column):
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2))
    with dask.config.set({"dataframe.convert-string": False}):
        there = H(lr.gram(dd.from_pandas(column.rename("v"), npartitions=3)))
    assert float(there) == pytest.approx(float(H(lr.gram(column))), abs=1e-8)


def test_missing_values_are_named_by_their_row():
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    column = pd.Series(Y, dtype="Int64", name="v")
    for row in (3, 437):  # in the first block and in another
        gap = dd.from_pandas(column.where(column.index != row), npartitions=3)
        with pytest.raises(ValueError, match=rf"x\['v'\] has 1 missing value, .* row {row}"):
            lr.entropy(gap)
    masked = da.ma.masked_array(chunked(X[:, 0]), chunked(np.arange(N) == 437))
    with pytest.raises(ValueError, match=r"x has 1 missing value, first at row 437"):
        lr.entropy(masked)


def test_a_column_has_one_kind_in_all_blocks():
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    mixed = pd.Series([*range(N - 1), "a"], dtype=object, name="v")
    with dask.config.set({"dataframe.convert-string": False}):
        there = dd.from_pandas(mixed, chunksize=N - 1, sort=False)
    with pytest.raises(TypeError, match=rf"x\['v'\] holds numbers .* labels .* row {N - 1}"):
        lr.entropy(there)


def test_unknown_lengths_are_found(small, frame):
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2))
    x = chunked(X)
    positive = x[x[:, 0] > 0]
    assert np.isnan(positive.shape[0])
    here = H(lr.gram(X[X[:, 0] > 0]))
    assert float(H(lr.gram(positive))) == pytest.approx(float(here), abs=1e-8)
    frame["row"] = np.arange(N)
    there = dd.from_pandas(frame, npartitions=4)
    late = there[there["row"] > 350][["a", "b"]]  # two partitions have become empty
    here = H(lr.gram(frame[frame["row"] > 350][["a", "b"]]))
    assert float(H(lr.gram(late))) == pytest.approx(float(here), abs=1e-8)


def test_the_selector_takes_chunked_tables(frame):
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    frame["copy"] = frame["a"] + 0.1 * frame["b"]
    target = (frame["a"] > 0).astype(int)
    X = frame[["b", "a", "c", "copy", "word"]]
    here = InformationSelector(2).fit(X, target)
    there = InformationSelector(2).fit(
        dd.from_pandas(X, npartitions=3), dd.from_pandas(target, npartitions=3)
    )
    assert there.indices_.tolist() == here.indices_.tolist()
    assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()
    numbers = X[["b", "a", "c"]].to_numpy()
    arrays = InformationSelector(2).fit(chunked(numbers), chunked(target.to_numpy()))
    plain = InformationSelector(2).fit(numbers, target)
    assert arrays.indices_.tolist() == plain.indices_.tolist()
    assert arrays.scores_ == pytest.approx(plain.scores_, abs=1e-8)


def test_a_table_too_large_for_one_place_is_refused(monkeypatch):
    monkeypatch.setattr(_memory, "free_memory", lambda: 1000)
    monkeypatch.setattr(_memory, "A_LITTLE", 0)
    with pytest.raises(MemoryError, match="X, all of it in one place"):
        InformationSelector(2).fit(chunked(X), chunked(Y))


# --------------------------------------------------------------------------------- bad input


def test_chunks_that_differ_are_refused_with_the_call_to_make():
    with pytest.raises(ValueError, match=r"y = y\.rechunk\(\{0: x\.chunks\[0\]\}\)") as refused:
        lr.mutual_information(chunked(X), chunked(Y, (300, 300)))
    assert "(123, 77, 400) and (300, 300)" in str(refused.value)
    with pytest.raises(ValueError, match="same rows"):
        lr.mutual_information(chunked(X), da.ones(500, chunks=100))


def test_files_and_collections_do_not_mix(tmp_path):
    file = np.memmap(tmp_path / "labels", dtype=Y.dtype, mode="w+", shape=Y.shape)
    with pytest.raises(TypeError, match=r"Dask collections and in files .* da\.from_array\(file\)"):
        lr.gram(chunked(X)) * lr.gram(file)


def test_what_cannot_be_read_is_refused_by_name():
    bad = X.copy()
    bad[437, 1] = np.inf
    with pytest.raises(ValueError, match="y has inf at row 437, column 1"):
        lr.mutual_information(Y, chunked(bad))
    with pytest.raises(ValueError, match="at least two rows"):
        lr.gram(da.ones((1, 3)))
    with pytest.raises(ValueError, match="a scalar"):
        lr.gram(da.ones(()))
    with pytest.raises(ValueError, match="no columns"):
        lr.gram(da.ones((5, 0)))
    with pytest.raises(TypeError, match="complex"):
        lr.gram(da.ones(5, dtype=complex))
    with pytest.raises(TypeError, match=r"arrays, data-frames and their columns"):
        lr.gram(dask.delayed(X))


# --------------------------------------------------------------------------------- what travels


def test_a_gram_stays_lazy_and_only_small_things_travel(monkeypatch):
    """Of 20,001 rows of 10 columns neither all nor n x r come to the client."""
    monkeypatch.setattr(structure, "WHOLE", 500)
    n, sizes, seen = 20_001, [], []

    def block(i):
        seen.append(i)
        return np.random.default_rng(i).normal(size=(1000 if i < 20 else 1, 10))

    parts = [da.from_delayed(dask.delayed(block)(i), (1000, 10), float) for i in range(20)]
    x = da.concatenate([*parts, da.from_delayed(dask.delayed(block)(20), (1, 10), float)])
    A = lr.gram(x, lr.Gaussian(4.0))
    assert isinstance(A, Streamed)
    assert len(A) == n
    assert set(seen) == {0, 1}  # the first 1024 rows, for their center
    compute = engine._compute

    def measured(parts):
        found = compute(parts)
        sizes.append(sum(len(pickle.dumps(value)) for value in found))
        return found

    monkeypatch.setattr(engine, "_compute", measured)
    lr.Renyi(2, 10, lr.PivotedCholesky(tol=0.2, sample=200)).bits(A)
    assert set(seen) == set(range(21))
    assert sum(sizes) < 0.2 * n * 10 * 8


def test_progress_is_told(small):
    told = []
    solver = lr.Auto(tol=1e-2, progress=lambda message, width: told.append(width))
    lr.Renyi(2, 10, solver).certified(lr.gram(chunked(X)))
    assert told
    assert told[-1] <= 1e-2


# --------------------------------------------------------------------------------- processes


def until(condition):
    """Wait for a condition; a minute is taken for never."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def shared_rows(i, size=2000):
    return np.random.default_rng(i).normal(size=(size, 2))


def fatal_rows(i, victim, log, after):
    """Make rows; at the `after`-th call in all processes, kill one (this one by default)."""
    with open(log, "a") as file:
        file.write("x")
    # Two processes may write before either looks: whoever is first to leave a mark does it.
    if os.path.getsize(log) >= after and not os.path.exists(f"{log}.done"):
        with open(f"{log}.done", "w"):
            pass
        os.kill(victim or os.getpid(), signal.SIGKILL)
        time.sleep(5)
    return shared_rows(i)


def fatal(log, victim=None, after=18):
    parts = [dask.delayed(fatal_rows)(i, victim, log, after) for i in range(12)]
    return da.concatenate([da.from_delayed(part, (2000, 2), float) for part in parts])


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def pids(client):
    """Return the processes of the workers, once both are there: who asks a dead one may wait."""
    client.wait_for_workers(2, timeout=60)
    return set(client.run(os.getpid, on_error="ignore").values())


quiet = pytest.mark.filterwarnings("default")  # Dask warns of its own sockets when one is killed


@quiet
def test_a_worker_killed_while_rows_are_drawn_does_not_change_the_list(client, tmp_path):
    rows = np.concatenate([shared_rows(i) for i in range(12)])
    labels = (rows[:, 1] > 0).astype(int)
    here = InformationSelector(2).fit(rows, labels)
    before = pids(client)
    there = InformationSelector(2).fit(fatal(str(tmp_path / "calls"), after=6), labels)
    assert before - pids(client)  # one of them is no more
    assert there.indices_.tolist() == here.indices_.tolist() == [1, 0]
    assert there.scores_.tolist() == here.scores_.tolist()


@quiet
def test_a_worker_killed_in_the_middle_does_not_change_the_answer(client, tmp_path):
    H = lr.Renyi(2, 10, lr.Auto(tol=1e-2))
    here = H.certified(lr.gram(np.concatenate([shared_rows(i) for i in range(12)])))
    before = pids(client)
    log = tmp_path / "calls"
    there = H.certified(lr.gram(fatal(str(log))))
    assert os.path.getsize(log) > 18
    assert before - pids(client)  # one of them is no more
    assert float(there) == pytest.approx(float(here), abs=1e-8)
    assert there.width == pytest.approx(here.width, abs=1e-8)


@quiet
def test_an_interruption_cancels_what_has_not_begun(client):
    def slow(i):
        time.sleep(0.3)
        return shared_rows(i)

    parts = [da.from_delayed(dask.delayed(slow)(i), (2000, 2), float) for i in range(60)]
    main = threading.main_thread().ident

    def interrupt():
        until(lambda: any(client.processing().values()))
        signal.pthread_kill(main, signal.SIGINT)

    # Where the tests run in the background, an interruption is ignored unless asked for.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            lr.entropy(da.concatenate(parts), entropy=lr.Renyi(2, 5, lr.Auto(tol=1e-2)))
    finally:
        signal.signal(signal.SIGINT, before)
    until(lambda: not any(client.processing().values()))


@quiet
def test_a_lost_scheduler_is_a_clear_error(tmp_path):
    file = str(tmp_path / "scheduler.json")
    start = [sys.executable, "-m", "dask"]
    commands = [["scheduler", "--port", "0", "--no-dashboard"], ["worker", "--no-nanny"]]
    started = []
    try:
        for command in commands:
            run = [*start, *command, "--scheduler-file", file]
            started.append(subprocess.Popen(run, stderr=subprocess.DEVNULL))
            until(lambda: os.path.exists(file))
        with distributed.Client(scheduler_file=file, timeout=60) as client:
            client.wait_for_workers(1)
            x = fatal(str(tmp_path / "calls"), victim=started[0].pid, after=2)
            with pytest.raises(ConnectionError, match=r"scheduler was lost.* new Client"):
                lr.entropy(x, entropy=lr.Renyi(2, 10, lr.Auto(tol=1e-2)))
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_chosen_columns_come_back_as_they_are(tmp_path, monkeypatch):
    pd, da, dd = (pytest.importorskip(n) for n in ("pandas", "dask.array", "dask.dataframe"))
    pa, pq, ds = (pytest.importorskip(f"pyarrow{n}") for n in ("", ".parquet", ".dataset"))
    monkeypatch.setattr("lorenyi.distributed.collect", None)  # nothing is collected
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 4)), columns=list("abcd"))
    selector = InformationSelector(1).fit(X, X["c"] > 0)
    frame = selector.transform(dd.from_pandas(X, 2))
    assert isinstance(frame, dd.DataFrame)
    assert list(frame.columns) == ["c"]
    array = selector.transform(da.from_array(X.to_numpy(), chunks=100))
    assert isinstance(array, da.Array)
    assert array.shape == (300, 1)
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "x.parquet")
    assert selector.transform(ds.dataset(tmp_path / "x.parquet")).column_names == ["c"]
    for other in (da.ones((10, 3)), dd.from_pandas(X[list("bacd")], 2)):
        with pytest.raises(ValueError, match="and was fitted with"):
            selector.transform(other)
