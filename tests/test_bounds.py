"""The order of majorization: what encloses a spectrum, and that every bound really is one.

Partial sums are compared directly; the spectra and matrices are made here, so the truth is known.
"""

import math

import numpy as np
import oracles
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import lorenyi as lr
from lorenyi.data.sources import ArraySource
from lorenyi.gram import InMemory, Matrix, held
from lorenyi.spectra import bounds
from lorenyi.spectra.cholesky import Factor, Nystroem, residual_norm
from lorenyi.spectra.enclosure import outside
from lorenyi.spectra.krylov import Krylov

ORDERS = [0.1, 0.5, 1, 1.01, 2, 5, math.inf]
ROUNDING = 1e-12
unhurried = settings(deadline=None)

# ------------------------------------------------------------------------------ random spectra


@st.composite
def spectra(draw, largest=30):
    """Eigenvalues of trace one, descending; some equal, some zero, some far apart."""
    value = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-5, 1.0))
    values = np.sort(np.array(draw(st.lists(value, min_size=2, max_size=largest))))[::-1]
    assume(values[0] > 0)
    return values / values.sum()


@st.composite
def concave(draw, length):
    """Partial sums of nonnegative falling steps."""
    steps = draw(st.lists(st.floats(0, 0.1), min_size=length, max_size=length))
    return np.cumsum(np.sort(np.array(steps))[::-1])


@st.composite
def lower_bounds(draw):
    """A spectrum, and lower bounds on its first partial sums in no particular order."""
    values = draw(spectra())
    known = draw(st.integers(1, len(values)))
    below = draw(st.lists(st.floats(0, 0.5), min_size=known, max_size=known))
    exact = draw(st.lists(st.booleans(), min_size=known, max_size=known))
    return values, np.cumsum(values)[:known] - np.where(exact, 0.0, below)


@st.composite
def upper_bounds(draw):
    """A spectrum, the start of a concave upper bound on its partial sums, and a cap."""
    values = draw(spectra())
    known = draw(st.integers(1, len(values)))
    upper = (np.cumsum(values) + draw(concave(len(values))))[:known]
    after = values[known] if known < len(values) else 0.0
    return values, upper, after + draw(st.sampled_from([0.0, 1e-3, 0.1, 1.0]))


def expanded(spectrum, n):
    """All n eigenvalues of a complete Spectrum, one by one, descending."""
    values = np.asarray(spectrum.values)
    counts = np.ones(len(values)) if spectrum.counts is None else np.asarray(spectrum.counts)
    assert (counts == np.round(counts)).all()
    found = np.sort(np.repeat(values, counts.astype(int)))[::-1]
    assert len(found) <= n
    return np.pad(found, (0, n - len(found)))


def sums(spectrum, n):
    return np.cumsum(expanded(spectrum, n))


def assert_encloses(pair, values, rounding=ROUNDING):
    """`peaked` majorizes the values and these majorize `spread`, all of the same trace."""
    truth, n = np.cumsum(values), len(values)
    peaked, spread = (sums(end, n) for end in pair)
    assert (peaked >= truth - rounding).all()
    assert (truth >= spread - rounding).all()
    assert peaked[-1] == pytest.approx(truth[-1], abs=rounding)
    assert spread[-1] == pytest.approx(truth[-1], abs=rounding)


def low_rank_entropy(values, alpha, k):
    if k is None:
        return oracles.renyi(values, alpha)
    tail = max(values[k:].sum(), 0.0) / (len(values) - k)
    return oracles.renyi(np.r_[values[:k], np.full(len(values) - k, tail)], alpha)


# -------------------------------------------------------------------------- the two extremes


@unhurried
@given(lower_bounds())
def test_the_spread_spectrum_is_majorized_by_all_with_these_lower_bounds(case):
    values, lower = case
    spread = sums(bounds.spread_from(lower, len(values), 1.0), len(values))
    assert (np.cumsum(values) >= spread - ROUNDING).all()


@unhurried
@given(lower_bounds())
def test_the_spread_spectrum_itself_respects_the_lower_bounds(case):
    """So no more even one would do."""
    values, lower = case
    spread = sums(bounds.spread_from(lower, len(values), 1.0), len(values))
    assert (spread[: len(lower)] >= np.minimum(lower, 1.0) - ROUNDING).all()
    assert spread[-1] == pytest.approx(1.0, abs=ROUNDING)


@unhurried
@given(upper_bounds())
def test_the_peaked_spectrum_majorizes_all_within_these_upper_bounds(case):
    values, upper, cap = case
    peaked = sums(bounds.peaked_from(upper, len(values), 1.0, cap), len(values))
    assert (peaked >= np.cumsum(values) - ROUNDING).all()
    assert peaked[-1] == pytest.approx(1.0, abs=ROUNDING)


@unhurried
@given(upper_bounds())
def test_the_peaked_spectrum_itself_respects_the_upper_bounds_and_the_cap(case):
    values, upper, cap = case
    peaked = expanded(bounds.peaked_from(upper, len(values), 1.0, cap), len(values))
    known = len(upper)
    assert (np.cumsum(peaked)[:known] <= np.minimum(upper, 1.0) + ROUNDING).all()
    assert (peaked[known:] <= cap + ROUNDING).all()


@unhurried
@given(st.data())
def test_entropies_of_every_order_and_rank_lie_between_those_of_the_two(data):
    """S(peaked) <= S <= S(spread), as for partial sums known to within given errors."""
    values, lower = data.draw(lower_bounds())
    above = data.draw(concave(len(lower)))
    n = len(values)
    upper = np.cumsum(values)[: len(lower)] + above
    pair = bounds.peaked_from(upper, n, 1.0, 1.0), bounds.spread_from(lower, n, 1.0)
    for alpha in ORDERS:
        for k in [None, *range(1, n)]:
            low, high = (float(lr.renyi_entropy(end, alpha, k)) for end in pair)
            # Differences of eps in a value near zero are sqrt(eps) and more at alpha < 1.
            rounding = 1e-10 if alpha >= 1 else n * np.finfo(float).eps ** alpha
            assert low - rounding <= low_rank_entropy(values, alpha, k) <= high + rounding


@unhurried
@given(spectra(), st.integers(0, 2**32 - 1))
def test_what_is_known_of_a_part_encloses_the_sum_of_two(values, seed):
    """A = F + E, both positive semi-definite: bounds from F, trace E, |E|_F and |E|_2."""
    n = len(values)
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, rng.integers(1, n + 1)))
    E = G @ G.T
    E *= 0.3 / np.trace(E)
    A = np.diag(0.7 * values) + E
    kept = 0.7 * values[: rng.integers(1, n + 1)]
    E = A - np.diag(np.pad(kept, (0, n - len(kept))))
    residual = np.linalg.eigvalsh(E)
    truth = np.linalg.eigvalsh(A)[::-1]
    for frobenius in (math.inf, float(np.linalg.norm(residual))):
        for largest in (float(residual.max()), float(np.trace(E))):
            pair = bounds.enclose_sum(kept, n, 1.0, largest=largest, frobenius=frobenius)
            assert_encloses(pair, truth)


# --------------------------------------------------------------------------- counterexamples


@pytest.mark.parametrize("alpha", ORDERS)
def test_a_ritz_value_of_zero_does_not_give_the_upper_bound_it_seems_to(alpha):
    """theta = (0), n = 3, k = 1, lambda = (.4, .3, .3): S^1(theta) = 1 bit < S^1(lambda)."""
    values = np.array([0.4, 0.3, 0.3])
    pair = bounds.enclose_sum(np.array([0.0]), 3, 1.0, largest=1.0)
    naive = low_rank_entropy(np.array([0.0, 0.5, 0.5]), alpha, 1)
    truth = low_rank_entropy(values, alpha, 1)
    low, high = (float(lr.renyi_entropy(end, alpha, 1)) for end in pair)
    assert naive < truth
    assert low <= truth <= high
    assert high == pytest.approx(math.log2(3))


@pytest.mark.parametrize("alpha", ORDERS[:-1])
def test_fewer_values_than_the_rank_are_not_padded_with_zeros(alpha):
    """r = 1 < k = 4 values: L_4 of (.4, 0, 0, 0) leaves room for less than is there."""
    values = np.array([0.4, *[0.1] * 6])
    pair = bounds.enclose_sum(np.array([0.4]), 7, 1.0, largest=0.6)
    naive = low_rank_entropy(np.array([0.4, 0, 0, 0, 0.2, 0.2, 0.2]), alpha, 4)
    truth = low_rank_entropy(values, alpha, 4)
    low, high = (float(lr.renyi_entropy(end, alpha, 4)) for end in pair)
    assert naive < truth - 0.02
    assert low <= truth <= high + 1e-12
    assert high == pytest.approx(truth)


# ------------------------------------------------------------------------ complete spectra


@unhurried
@given(spectra())
def test_the_enclosure_of_all_eigenvalues_is_as_narrow_as_rounding(values):
    pair = bounds.enclosure(lr.Spectrum(values))
    assert_encloses(pair, values)
    peaked, spread = (sums(end, len(values)) for end in pair)
    assert (peaked - spread <= 1e-11).all()


@unhurried
@given(spectra(), st.integers(0, 2**32 - 1))
def test_the_enclosure_of_all_eigenvalues_covers_what_single_precision_moved(values, seed):
    """Rounding a matrix to float32 moves its eigenvalues; the enclosure of those knows."""
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    A = (Q * values) @ Q.T
    found = np.maximum(np.linalg.eigvalsh(A.astype(np.float32))[::-1], 0.0)
    pair = bounds.enclosure(lr.Spectrum(found.astype(np.float32)))
    assert_encloses(pair, values)


def test_a_sketch_has_no_enclosure():
    assert bounds.enclosure(lr.Spectrum(np.array([0.5, 0.2]), n=9, kind="sketch")) is None


def test_ritz_values_without_a_proof_have_no_enclosure():
    assert bounds.enclosure(lr.Spectrum(np.array([0.5, 0.2]), n=9, kind="ritz")) is None


def truncated(values, kept, trace):
    """Ritz values with a proof, as a solver would give them for a block of this trace."""
    theta = trace * values[:kept]
    rest = trace - theta.sum()

    def proof():
        return bounds.enclose_sum(theta, len(values), trace, largest=rest)

    return lr.Spectrum(theta, len(values), trace, "ritz", proof=proof, failure=1e-9)


@unhurried
@given(st.data())
def test_the_union_of_blocks_keeps_their_enclosures(data):
    blocks = data.draw(st.lists(spectra(12), min_size=1, max_size=4))
    share = 1 / len(blocks)
    parts = []
    for values in blocks:
        kept = data.draw(st.integers(1, len(values)))
        if kept == len(values):
            parts.append(lr.Spectrum(share * values, len(values), share))
        else:
            parts.append(truncated(values, kept, share))
    zeros = data.draw(st.integers(0, 5))  # places beyond the blocks' rows, as after folding
    truth = np.sort(np.concatenate([share * values for values in blocks] + [np.zeros(zeros)]))
    n = len(truth)
    whole = bounds.union(parts, n, 1.0)
    assert_encloses(bounds.enclosure(whole), truth[::-1])
    open_parts = sum(part.kind == "ritz" for part in parts)
    assert whole.kind == ("ritz" if open_parts else "complete")
    assert whole.failure == pytest.approx(1e-9 * open_parts)


def test_a_union_with_a_block_that_nothing_is_proven_of_has_no_enclosure():
    unknown = lr.Spectrum(np.array([0.25]), 4, 0.5, "sketch")
    whole = bounds.union([lr.Spectrum(np.array([0.5]), 1, 0.5), unknown], 5, 1.0)
    assert bounds.enclosure(whole) is None


def test_the_union_of_blocks_keeps_the_rounding_of_the_coarser_one():
    """Eigenvalues known at sight, beside those of a block that were found in float32."""
    rng = np.random.default_rng(0)
    values = np.sort(rng.uniform(size=40))[::-1]
    values *= 0.5 / values.sum()
    moved = (values * (1 + 1e-6 * rng.uniform(-1, 1, size=40))).astype(np.float32)
    parts = [lr.Spectrum(np.array([0.3, 0.2]), 2, 0.5), lr.Spectrum(moved, 40, 0.5)]
    whole = bounds.union(parts, 42, 1.0)
    truth = np.sort(np.concatenate([[0.3, 0.2], values]))[::-1]
    assert_encloses(bounds.enclosure(whole), truth)


def test_the_union_of_complete_blocks_keeps_a_wider_proof_of_one():
    """A block found in float32 is complete and yet known to float32's rounding only."""
    found = np.array([0.3, 0.2 - 1e-6])
    proof = bounds.enclose_sum(found, 2, 0.5, largest=1e-5, slack=np.full(2, 1e-5))
    single = lr.Spectrum(found, 2, 0.5, "complete", proof=lambda: proof)
    whole = bounds.union([single, lr.Spectrum(np.array([0.5]), 1, 0.5)], 3, 1.0)
    assert_encloses(bounds.enclosure(whole), np.array([0.5, 0.3 + 5e-6, 0.2 - 5e-6]))


# ----------------------------------------------------------- matrices with known eigenvalues


def decaying(n):
    return np.arange(1.0, n + 1) ** -1.5


def flat(n):
    return np.linspace(1.0, 0.5, n)


def clustered(n):
    """Three groups of values that differ by a millionth."""
    values = np.repeat([1.0, 0.3, 0.01], [n // 6, n // 3, n - n // 6 - n // 3])
    return values * (1 + 1e-6 * np.linspace(1, 0, n))


def repeated(n):
    """Few distinct values, each many times, and zeros."""
    return np.repeat(
        [1.0, 0.5, 0.25, 0.0], [n // 10, n // 5, n // 2, n - n // 10 - n // 5 - n // 2]
    )


SHAPES = {f.__name__: f for f in (decaying, flat, clustered, repeated)}
shapes = pytest.mark.parametrize("shape", SHAPES)


def matrix_of(values, seed=0):
    """A positive semi-definite matrix of trace one with these eigenvalues, and the values."""
    values = np.sort(values / values.sum())[::-1]
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    A = (Q * values) @ Q.T
    return 0.5 * (A + A.T), values


def as_gram(A):
    """The matrix as it is: its diagonal is the weights."""
    return InMemory([Matrix(A)], np.ones(len(A)), np.diag(A).copy(), len(A))


def krylov(values, *, block=4, capacity=None, seed=0):
    A, values = matrix_of(values, seed=seed % 7)
    capacity = capacity or len(values)
    return Krylov(as_gram(A), block, capacity, seed), A, values


@shapes
@pytest.mark.parametrize(("n", "block"), [(60, 1), (130, 4), (300, 16)])
def test_a_krylov_basis_encloses_the_eigenvalues_after_every_step(shape, n, block):
    engine, _, values = krylov(SHAPES[shape](n), block=block)
    gaps = []
    while not engine.full and engine.size < 80:
        engine.step()
        pair = engine.enclose()
        assert_encloses(pair, values)
        gaps.append(np.max(sums(pair[0], n) - sums(pair[1], n)))
    assert gaps[-1] < 0.8 * gaps[0]


@shapes
@pytest.mark.parametrize("n", [60, 150])
def test_a_krylov_basis_that_is_complete_knows_all_eigenvalues(shape, n):
    engine, _, values = krylov(SHAPES[shape](n), block=8)
    engine.fill()
    assert engine.complete
    peaked, spread = engine.enclose()
    assert_encloses((peaked, spread), values)
    assert np.max(sums(peaked, n) - sums(spread, n)) < 1e-10


@shapes
@pytest.mark.parametrize("seed", range(4))
def test_a_krylov_basis_with_a_proof_encloses_the_eigenvalues_after_every_step(shape, seed):
    engine, _, values = krylov(SHAPES[shape](200), block=6, seed=seed)
    for _ in range(5):
        for _ in range(2):
            engine.step()
            assert_encloses(engine.enclose(), values)
        engine.prove()
        assert_encloses(engine.enclose(), values)
    assert engine.outside < 1.0
    assert 0 < engine.failure <= 1e-11


@shapes
@pytest.mark.parametrize("seed", range(5))
def test_residuals_that_are_not_followed_are_accounted_for(shape, seed):
    """What kept vectors leaked can point the same way as what the last block leaks."""
    engine, A, values = krylov(SHAPES[shape](60), block=3, seed=seed)
    for kept in (4, 9):
        engine.step()
        engine.step()
        engine.compress(kept, fresh=True)
        for _ in range(3):
            engine.step()
            assert_encloses(engine.enclose(), values)
            _, S, residual = engine.ritz()
            Q = np.asarray(engine.basis)
            R = A @ Q @ S
            truth = np.linalg.norm(R - Q @ (Q.T @ R), axis=0)
            assert (truth <= residual + np.sqrt(engine._dropped) + 1e-15).all()
        engine.prove()
        assert_encloses(engine.enclose(), values)


@shapes
def test_a_restarted_krylov_basis_encloses_the_eigenvalues(shape):
    engine, _, values = krylov(SHAPES[shape](150), block=3, capacity=30)
    for _ in range(5):
        engine.fill()
        assert_encloses(engine.enclose(), values)
        engine.compress(12)


@shapes
def test_a_krylov_basis_in_single_precision_encloses_the_eigenvalues(shape):
    A, values = matrix_of(SHAPES[shape](150))
    engine = Krylov(as_gram(A).single(), 5, 150)
    while not engine.full:
        engine.step()
        assert_encloses(engine.enclose(), values)


@pytest.mark.parametrize("block", [1, 5])
def test_directions_that_replace_noise_are_orthonormal(block):
    """With a coarse unit of rounding, small residuals are noise: the basis must not suffer."""
    engine, A, _ = krylov(decaying(80), block=block)
    engine._eps = 1e-4
    drawn = engine._draws
    while engine.size < 70:
        engine.step()
        Q = np.c_[np.asarray(engine.basis), np.asarray(engine.X)]
        assert np.abs(Q.T @ Q - np.eye(Q.shape[1])).max() < 1e-12
        Q = Q[:, : engine.size]
        assert np.abs(engine.projected - Q.T @ A @ Q).max() < 1e-12
    assert engine._draws > drawn


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_random_columns_bound_what_is_outside_a_krylov_basis(dtype):
    X = np.random.default_rng(7).normal(size=(150, 3)).astype(dtype)
    A = held(lr.gram(X, lr.Gaussian(0.7)))
    engine = Krylov(A, 8, 40)
    engine.fill()
    bound = engine.prove()
    Q, dense = np.asarray(engine.basis, dtype=np.float64), A.dense().astype(np.float64)
    P = np.eye(150) - Q @ Q.T
    largest = np.linalg.eigvalsh(P @ dense @ P)[-1]
    assert largest <= bound <= 1.6 * largest
    rounding = ROUNDING if dtype == np.float64 else 1e-6  # the trace itself is off by that
    assert_encloses(engine.enclose(), np.linalg.eigvalsh(dense)[::-1], rounding)


def test_a_proof_narrows_what_the_trace_alone_leaves_open():
    """Half of the mass is in a flat tail: only random columns show that none of it is large."""
    values = np.r_[np.full(10, 0.05), np.full(190, 0.5 / 190)]
    engine, _, values = krylov(values, block=10)
    for _ in range(3):
        engine.step()
    before = engine.enclose()[0]
    engine.prove()
    after = engine.enclose()[0]
    assert_encloses(engine.enclose(), values)
    assert expanded(before, 200)[0] > 0.3
    assert expanded(after, 200)[0] < 0.06


def test_random_columns_miss_no_more_often_than_they_say():
    """One large value among 200, and a failure that is not tiny: the hardest case there is."""
    failure, runs = 0.3, 150
    A, values = matrix_of(np.r_[1.0, np.full(199, 0.45)])
    bounds = [outside(A, np.zeros((200, 0)), seed, failure=failure) for seed in range(runs)]
    assert sum(bound < values[0] * (1 - 1e-12) for bound in bounds) <= failure * runs
    assert max(bounds) < 1.5 * values[0]  # and they are of use


# ------------------------------------------------------------------------------ random bounds


def residual_case(seed, kind):
    """A factor of a small matrix whose residual is known in full."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2))
    A = lr.gram(X, lr.Gaussian(0.7))
    if kind == "one large entry":  # nearly all of the norm in one pair of rows
        K = np.eye(80)
        K[3, 57] = K[57, 3] = 0.999
        A = lr.gram(K, lr.Precomputed())
    factor = Factor(A, seed)
    factor.grow(12)
    E = np.asarray(A.dense()) - factor.F @ factor.F.T
    return A, factor, float(np.linalg.norm(E))


def bounded_norm(A, factor, seed, failure, pairs):
    diagonal = ArraySource(factor.diagonal[:, None])
    return residual_norm(A, lambda _, rows: factor.F[rows], diagonal, seed, failure, pairs)


@pytest.mark.parametrize("kind", ["smooth", "one large entry"])
@pytest.mark.parametrize("pairs", [50, 2000])
def test_the_bound_on_the_residual_never_misses_with_a_tiny_failure(kind, pairs):
    for seed in range(40):
        A, factor, norm = residual_case(seed, kind)
        bound = bounded_norm(A, factor, seed, 1e-6, pairs)
        assert norm <= bound


@pytest.mark.parametrize("kind", ["smooth", "one large entry"])
def test_the_bound_on_the_residual_misses_no_more_often_than_it_says(kind):
    failure, runs = 0.05, 300
    A, factor, norm = residual_case(0, kind)
    found = [bounded_norm(A, factor, seed, failure, 100) for seed in range(runs)]
    assert np.sum(np.array(found) < norm) <= failure * runs


def test_the_bound_on_the_residual_is_close_with_many_pairs():
    A, factor, norm = residual_case(1, "smooth")
    bound = bounded_norm(A, factor, 0, 1e-6, 200_000)
    assert norm <= bound < 1.05 * norm


def test_the_bound_on_the_residual_of_a_streamed_factor_never_misses():
    rng = np.random.default_rng(0)
    A = lr.gram(rng.normal(size=(150, 2)), lr.Gaussian(0.8))
    for seed in range(10):
        factor = Factor(A.take(np.arange(0, 150, 2)), seed)
        factor.grow(20)
        streamed = Nystroem(A, factor)
        F = streamed.features(A, np.arange(150))
        E = np.asarray(A.dense()) - F @ F.T
        assert np.linalg.eigvalsh(E)[0] > -1e-12
        assert streamed.rest == pytest.approx(np.trace(E))
        assert np.linalg.norm(E) <= streamed.frobenius(seed, 1e-6)
        assert_encloses(
            bounds.enclosure(streamed.spectrum(streamed.frobenius(seed, 1e-6), 1e-6)),
            np.linalg.eigvalsh(np.asarray(A.dense()))[::-1],
        )


@given(st.integers(0, 10**6), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
@example(0, 1)
def test_a_factor_of_any_size_encloses_the_eigenvalues(seed, size):
    A, _ = matrix_of(decaying(60), seed=seed % 5)
    factor = Factor(as_gram(A), seed)
    factor.grow(size)
    truth = np.linalg.eigvalsh(A)[::-1]
    assert_encloses(bounds.enclosure(factor.spectrum()), truth)
    frobenius = factor.frobenius(seed, 1e-9)
    assert_encloses(bounds.enclosure(factor.spectrum(frobenius, 1e-9)), truth)
