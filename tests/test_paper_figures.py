"""The scripts of the paper's simulations run, resume, and show what the paper says they show."""

import builtins
import csv
from dataclasses import replace

import approximation
import common
import intuition
import numpy as np
import pytest
import robustness

from lorenyi import _arrays

INTUITION = intuition.Settings(
    n=60,
    ranks=(3, 20),
    decays=(1.0, 10.0),
    every_rank=(1, 3, 20, 59),
    every_alpha=(0.0, 0.5, 1.0, 2.0),
    every_decay=(0.1, 1.0, 10.0),
)
ROBUSTNESS = robustness.Settings(
    n=30, d=120, trials=30, alphas=(0.5, 1.0, 2.0), ranks=(3, 10, None)
)
APPROXIMATION = approximation.Settings(
    n=256,
    rank=8,
    trials=4,
    sizes=(16, 64),
    steps=(8, 16, 24),
    size=64,
    step=16,
    alphas=(0.5, 1.0, 2.0),
    every_decay=(0.0, 1.0, 2.0),
    repeats=1,
)
SCRIPTS = {intuition: INTUITION, robustness: ROBUSTNESS, approximation: APPROXIMATION}
FILES = {
    intuition: {"spectrum", "rank", "alpha", "decay"},
    robustness: {"eigenvalues", "correlation", "deviations"},
    approximation: {"size", "alpha", "decay", "time"},
}


def read(file):
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    found = {}
    for script in SCRIPTS:
        found[script] = tmp_path_factory.mktemp(script.__name__)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(script, "QUICK", SCRIPTS[script])
            script.main(["--quick", "--out", str(found[script])])
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.__name__)
def test_every_script_writes_its_tables_and_pictures(script, folders):
    out = folders[script]
    assert {file.stem for file in out.glob("*.csv")} == FILES[script]
    pytest.importorskip("matplotlib")
    pictures = [file.read_bytes() for file in out.glob("*.png")]
    assert len(pictures) == {intuition: 2, robustness: 1, approximation: 3}[script]
    assert all(p.startswith(b"\x89PNG") and len(p) < 60_000 for p in pictures)


# ------------------------------------------------------------------------------------ intuition


def low_rank_entropy(n, r, alpha, k):
    values = np.exp(-r * np.arange(1, n + 1) / n)
    values /= values.sum()
    values[k:] = values[k:].mean() if k < n else 0
    if alpha == 1:
        return -np.sum(values * np.log2(values))
    return np.log2(np.sum(values**alpha)) / (1 - alpha)


def test_the_entropies_are_those_of_the_formula(folders):
    s, out = INTUITION, folders[intuition]
    for row in read(out / "alpha.csv"):
        k, alpha = int(row["rank"] or s.n), float(row["alpha"])
        expected = low_rank_entropy(s.n, s.decay, alpha, k)
        assert float(row["entropy"]) == pytest.approx(expected, rel=1e-5)
    for row in read(out / "rank.csv"):
        k, r = int(row["rank"] or s.n), float(row["decay"])
        assert float(row["entropy"]) == pytest.approx(
            low_rank_entropy(s.n, r, s.alpha, k), rel=1e-5
        )


def test_the_low_rank_entropy_falls_to_the_classical_one(folders):
    rows = read(folders[intuition] / "rank.csv")
    for r in ("1", "10"):
        values = [float(row["entropy"]) for row in rows if row["decay"] == r]
        assert values[:-1] == sorted(values[:-1], reverse=True)
        assert values[-2] == pytest.approx(values[-1], rel=1e-5)  # k = n - 1: one value is its mean
        assert values[0] > values[-1]


def test_the_altered_spectrum_sums_to_one_and_is_flat_after_the_rank(folders):
    rows = [row for row in read(folders[intuition] / "spectrum.csv") if row["rank"] == "3"]
    assert [int(row["i"]) for row in rows] == [1, 2, 3, 4, 60]
    assert rows[-1]["eigenvalue"] == rows[-2]["eigenvalue"]
    assert float(rows[-1]["running sum"]) == pytest.approx(1)


# ----------------------------------------------------------------------------------- robustness


@pytest.mark.parametrize("name", robustness.LAWS)
def test_noise_has_mean_zero_and_variance_one(name):
    draws = robustness.LAWS[name](np.random.default_rng(1), (1000, 400))
    assert np.mean(draws) == pytest.approx(0, abs=0.01)
    assert np.var(draws) == pytest.approx(1, abs=0.05)


def test_a_smaller_rank_makes_the_entropy_more_robust(folders):
    """At order 1 the deviation falls with the rank, whatever the law."""
    rows = read(folders[robustness] / "deviations.csv")
    for law in robustness.LAWS:
        found = {
            row["rank"]: float(row["n * deviation of entropy"])
            for row in rows
            if row["law"] == law and row["alpha"] == "1.0"
        }
        assert found["3"] < found["10"] < 1.1 * found[""]


def test_deviations_are_those_of_the_entropy_over_trials():
    clean, noisy = robustness.perturbed(ROBUSTNESS, robustness.LAWS["uniform"])
    assert clean.sum() == pytest.approx(1)
    assert noisy.sum(axis=1) == pytest.approx(np.ones(30))
    X = 0.1 * np.random.default_rng(0).normal(size=(30, 120))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert clean == pytest.approx(np.linalg.eigvalsh(unit @ unit.T / 30)[::-1])
    potential = np.sum(noisy**2, axis=1)
    ((bits, spread),) = robustness.deviations(noisy, [2.0], None)
    assert bits == pytest.approx(30 * np.std(-np.log2(potential), ddof=1))
    assert spread == pytest.approx(np.std(potential, ddof=1))


# -------------------------------------------------------------------------------- approximation


def test_the_basis_is_orthogonal_and_the_matrix_has_the_eigenvalues():
    basis, values = approximation.Basis(64, 3), approximation.eigenvalues(64, 1.5)
    Phi = basis.coordinates(np.eye(64)).T
    assert Phi.T @ Phi == pytest.approx(np.eye(64), abs=1e-12)
    assert basis.matrix(values) == pytest.approx(Phi @ np.diag(values) @ Phi.T, abs=1e-14)
    assert np.abs(Phi).std() > 0.05  # not all of one size, which would favor sampled columns


@pytest.mark.parametrize("seed", [0, 5])
def test_projected_values_are_singular_values_of_the_projected_matrix(seed):
    settings = replace(APPROXIMATION, n=128)
    basis = approximation.Basis(128, seed)
    shuffled = np.random.default_rng([seed, 1]).permutation(64)
    for method, c, s, values in approximation.projected(settings, seed):
        A = basis.matrix(approximation.eigenvalues(128, c))
        P = approximation.PROJECTIONS[method](64, seed=seed).matrix(128)[:, shuffled[:s]]
        expected = np.linalg.svd(A @ P * np.sqrt(64 / s), compute_uv=False)[:8]
        assert values == pytest.approx(expected, rel=1e-7)


def test_iterated_values_are_those_of_a_krylov_space():
    settings = replace(APPROXIMATION, n=64, rank=3, steps=(3, 5), step=5, decays=(1.0,))
    q = _arrays.normal(2, 1, 64, 1)
    for _, c, s, values in approximation.iterated(settings, 2):
        sigma = approximation.eigenvalues(64, c)
        powers = q * (sigma / sigma[0])[:, None] ** np.arange(s)
        Q = np.linalg.qr(powers)[0] if c else np.linalg.qr(np.hstack([q, np.eye(64)]))[0][:, :s]
        expected = np.linalg.eigvalsh(Q.T @ (sigma[:, None] * Q))[::-1][:3]
        assert values == pytest.approx(expected, rel=1e-6)


def mean_errors(out, method, c):
    rows = read(out / "size.csv")
    return [
        float(row["mean error"])
        for row in sorted(rows, key=lambda row: int(row["s"]))
        if (row["method"], float(row["c"])) == (method, c)
    ]


@pytest.mark.parametrize("method", approximation.METHODS)
def test_the_error_falls_with_the_size(method, folders):
    errors = mean_errors(folders[approximation], method, 0.5)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.6 * errors[0]


def test_lanczos_is_more_accurate_than_projections(folders):
    for c in APPROXIMATION.decays:
        best = min(mean_errors(folders[approximation], m, c)[-1] for m in approximation.PROJECTIONS)
        assert mean_errors(folders[approximation], "Lanczos", c)[-1] < best


def test_the_tables_hold_every_point_of_every_figure(folders):
    s, out = APPROXIMATION, folders[approximation]
    sizes = read(out / "size.csv")
    assert len(sizes) == 3 * (4 * len(s.sizes) + len(s.steps))
    assert {row["trials"] for row in sizes} == {"4"}
    assert len(read(out / "alpha.csv")) == 5 * len(s.alphas)
    assert len(read(out / "decay.csv")) == 5 * len(s.every_decay)
    times = read(out / "time.csv")
    assert times[0]["method"] == "eigvalsh"
    assert times[0]["times faster than eigvalsh"] == "1.0"
    assert len(times) == 1 + 4 * len(s.sizes) + len(s.steps)


def test_the_error_is_relative_to_the_exact_entropy():
    settings = replace(APPROXIMATION, n=64, rank=3, sizes=(16,), size=16, steps=(8,), step=8)
    rows = {tuple(row[:5]): row[5] for row in approximation.trial(settings, 1)}
    spectra = {(m, c): v for m, c, _, v in approximation.projected(settings, 1)}
    for method in approximation.PROJECTIONS:
        values = spectra[method, 1.0]
        exact = approximation.eigenvalues(64, 1.0)
        tail = (1 - values.sum()) / 61
        found = -np.log2(np.sum(values**2) + 61 * tail**2)
        truth = -np.log2(np.sum(exact[:3] ** 2) + 61 * exact[3:].mean() ** 2)
        error = rows["alpha", method, 1.0, 16, 2.0]
        assert error == pytest.approx(abs(found - truth) / truth)


def test_a_second_run_reads_the_cache_and_more_trials_keep_the_first(folders, monkeypatch):
    out = folders[approximation]
    before = {file.name: file.read_bytes() for file in out.glob("*.csv")}
    made = []

    def count(settings, seed):
        made.append(seed)
        return list(reversed(approximation.points(settings, (1,), 1)))  # any value

    monkeypatch.setattr(approximation, "trial", count)
    approximation.run(APPROXIMATION, out)
    assert made == []
    assert {file.name: file.read_bytes() for file in out.glob("*.csv")} == before
    same = replace(APPROXIMATION, trials=0, repeats=0)
    common.trials(out, 5, same, lambda t: count(APPROXIMATION, t))
    assert made == [4]


# --------------------------------------------------------------------------------------- common


def test_what_was_kept_with_other_settings_is_made_again(tmp_path):
    made = []

    def make():
        made.append(1)
        return [1, 2]

    file = tmp_path / "cache" / "x.json"
    assert common.kept(file, INTUITION, make) == [1, 2]
    assert common.kept(file, INTUITION, make) == [1, 2]
    assert len(made) == 1
    common.kept(file, replace(INTUITION, n=61), make)
    assert len(made) == 2


def test_quick_results_are_kept_apart():
    assert common.results("intuition", True) != common.results("intuition", False)
    assert common.results("intuition", False).parent.name == "results"


def test_without_matplotlib_the_remedy_is_told(tmp_path, monkeypatch, capsys):
    real = builtins.__import__

    def absent(name, *args, **options):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    common.picture(tmp_path / "a.png", (1, 1), lambda figure: None)
    assert 'pip install "lorenyi[plots]"' in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()
