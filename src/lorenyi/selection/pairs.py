r"""Sums over pairs of rows: what similar rows have in common, for many candidates at once.

Every quantity here is a sum of products of kernels between two different rows: :math:`w_{ij}` of
the features that are given, :math:`k_{ij}` of a candidate, :math:`t_{ij}` of the target (1 for
equal labels). Kernels are :math:`\exp(-(x_i - x_j)^2 / \sigma^2)`, the square of a Gaussian's,
and equality for labels.

Rows are taken in blocks, each of which is compared within itself. All candidates are scored at
once, by a product of matrices for each row, and kernels are made anew wherever they are needed: to
read them from memory takes as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.selection.sampled import GROUPS, Features, Look, Sampled
from lorenyi.selection.table import Table, Variable

BLOCK_ROWS = 500  # at least, that are compared with each other: fewer choose worse columns
FIRST_BLOCKS = 4  # 2,000 rows, which choose as well as 4,000 do: -0.16 +- 0.08 points of accuracy
FIRST_PAIRS = 1e9  # kernel values of a first look at most: a second
CHUNK = 2**18  # numbers of a piece of a kernel: they stay in the cache
WIDE = 64  # candidates of such a piece
LEAST = np.float32(1e-12)  # a kernel value below is none
PAIR_BLOCKS, PAIR_SHIFTS = 8, 32  # blocks and pairs a row from which pairs of features are ranked
SHARE_ROWS = 20_000  # pairs of a block from which the effective share is estimated


@dataclass(frozen=True)
class Columns:
    """The columns of some variables, as kernels read them.

    Parameters
    ----------
    numbers : array, n x d
        Over the bandwidth, float32.
    labels : array, n x e
        Codes.
    places : list
        For each variable, which columns of `numbers` and of `labels` are its own.
    """

    numbers: np.ndarray
    labels: np.ndarray
    places: list[tuple[list[int], list[int]]]

    @classmethod
    def of(cls, variables: Sequence[Variable], bandwidth: float, ranks: bool) -> Columns:
        """Prepare variables: numbers get a common scale, a missing value is a label of its own.

        With `ranks` they become normal scores, else they are standardized.
        """
        numbers: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        places = []
        for variable in variables:
            own: tuple[list[int], list[int]] = ([], [])
            scaled = _normal_scores(variable.numbers) if ranks else variable.standardised(None)
            for column in scaled.T:
                own[0].append(len(numbers))
                numbers.append(np.nan_to_num(column) / bandwidth)
            missing = np.isnan(variable.numbers)
            for column in (*missing[:, missing.any(axis=0)].T, *variable.symbols.T):
                own[1].append(len(labels))
                labels.append(column)
            places.append(own)
        n = len(variables[0].symbols)
        return cls(_stacked(numbers, n, np.float32), _stacked(labels, n, np.int64), places)

    def take(self, rows: np.ndarray) -> Columns:
        """Return the columns at some rows."""
        return Columns(self.numbers[rows], self.labels[rows], self.places)

    def kernel(self, rows: slice, features: Sequence[int]) -> np.ndarray:
        """Return the kernel of some rows with all, for each feature: rows x n x features."""
        shape = (rows.stop - rows.start, len(self.numbers), len(features))
        kinds = [(len(self.places[f][0]), len(self.places[f][1])) for f in features]
        number = [k for k, kind in enumerate(kinds) if kind == (1, 0)]
        if len(number) == len(features):
            return self._gaussian(rows, [self.places[f][0][0] for f in features])
        out = np.empty(shape, np.float32)
        if number:
            out[:, :, number] = self._gaussian(
                rows, [self.places[features[k]][0][0] for k in number]
            )
        label = [k for k, kind in enumerate(kinds) if kind == (0, 1)]
        if label:
            codes = self.labels[:, [self.places[features[k]][1][0] for k in label]]
            out[:, :, label] = codes[rows, None, :] == codes[None, :, :]
        for k, kind in enumerate(kinds):
            if kind not in ((1, 0), (0, 1)):
                out[:, :, k] = self._product(rows, features[k])
        return out

    def between(self, i: np.ndarray, j: np.ndarray, features: Sequence[int]) -> np.ndarray:
        """Return the kernel between rows i and rows j, one with one, for each feature."""
        out = np.ones((len(i), len(features)), np.float32)
        for k, f in enumerate(features):
            numbers, labels = self.places[f]
            for x in self.numbers[:, numbers].T:
                out[:, k] *= np.exp(-((x[i] - x[j]) ** 2))
            for x in self.labels[:, labels].T:
                out[:, k] *= x[i] == x[j]
        return out

    def _gaussian(self, rows: slice, columns: list[int]) -> np.ndarray:
        x = self.numbers[:, columns]
        difference = x[rows, None, :] - x[None, :, :]
        np.multiply(difference, difference, out=difference)
        return np.asarray(np.exp(np.negative(difference, out=difference), out=difference))

    def _product(self, rows: slice, feature: int) -> np.ndarray:
        numbers, labels = self.places[feature]
        found = np.ones((rows.stop - rows.start, len(self.numbers)), np.float32)
        for column in numbers:
            found *= self._gaussian(rows, [column])[:, :, 0]
        for column in self.labels[:, labels].T:
            found *= column[rows, None] == column[None, :]
        return found


def _stacked(columns: list[np.ndarray], n: int, dtype: type) -> np.ndarray:
    return np.stack(columns, axis=1).astype(dtype) if columns else np.zeros((n, 0), dtype)


def _normal_scores(X: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of each column, with standard deviation 1.

    Ranks make a kernel indifferent to the scale and the tails of a column.
    """
    out = np.full(X.shape, np.nan)
    for x, scores in zip(X.T, out.T, strict=True):
        there = ~np.isnan(x)
        if there.any():
            scores[there] = ndtri((rankdata(x[there]) - 0.5) / there.sum())
            deviation = float(scores[there].std())
            scores[there] /= deviation if deviation > 0 else 1.0
    return out


class Block:
    """Some rows, all pairs of them, and the weights of the given features between them."""

    def __init__(self, columns: Columns, target: Columns) -> None:
        self.columns = columns
        n = len(columns.numbers)
        self.t = target.kernel(slice(0, n), range(len(target.places)))[:, :, 0].copy()
        np.fill_diagonal(self.t, 0.0)
        self.p = self.t.sum(axis=1, dtype=np.float64) / (n - 1)
        self._given: Features = ()
        self._logs = np.zeros((n, n), np.float32)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.t)

    def log_weights(self, given: Features) -> np.ndarray:
        """Return the logarithm of the product of the kernels of some features."""
        if given[: len(self._given)] != self._given:
            self._given, self._logs = (), np.zeros_like(self._logs)
        for feature in given[len(self._given) :]:
            self._logs = self._logs + self._log_kernel(feature)
        self._given = given
        return self._logs

    def _log_kernel(self, feature: int) -> np.ndarray:
        kernel = self.columns.kernel(slice(0, len(self)), [feature])[:, :, 0]
        return np.log(np.maximum(kernel, LEAST))

    def sums(self, given: Features, power: float) -> np.ndarray:
        """Return the sums over j of w and of w t for each row: rows x 2."""
        return self._row_sums(self.log_weights(given), power)

    def sums_without(self, given: Features, power: float) -> np.ndarray:
        """Return these sums without each of the given features: rows x 2 x features."""
        logs = self.log_weights(given)
        each = [self._row_sums(logs - self._log_kernel(f), power) for f in given]
        return np.stack(each, axis=2)

    def sums_with(
        self, given: Features, power: float, features: np.ndarray, orders: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the sums over j of w k and of w t k: rows x 2 orders x candidates.

        In each order, the candidates' columns stay and all else is permuted.
        """
        n = len(self)
        w = _powered(self.log_weights(given), power)
        both = np.empty((n, 2 * len(orders), n), np.float32)
        for b, order in enumerate(orders):
            both[:, 2 * b] = w[np.ix_(order, order)]
            both[:, 2 * b + 1] = (w * self.t)[np.ix_(order, order)]
        found = np.empty((n, 2 * len(orders), len(features)), np.float32)
        for some in slices(len(features), WIDE):
            part = features[some].tolist()
            for rows in slices(n, max(1, CHUNK // (n * len(part)))):
                found[rows, :, some] = np.matmul(both[rows], self.columns.kernel(rows, part))
        return found

    def _row_sums(self, logs: np.ndarray, power: float) -> np.ndarray:
        w = _powered(logs, power)
        same = np.einsum("ij,ij->i", w, self.t, dtype=np.float64)
        return np.stack([w.sum(axis=1, dtype=np.float64), same], axis=1)

    def pair_sums(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
        """Return sums of k_a k_b and of t k_a k_b over some pairs of rows, of t, and how many."""
        d, rows = len(features), np.arange(len(self))
        plain, same, target = np.zeros((d, d)), np.zeros((d, d)), 0.0
        for shift in range(1, PAIR_SHIFTS + 1):
            others = (rows + shift) % len(self)
            kernel = self.columns.between(rows, others, features.tolist())
            t = self.t[rows, others]
            plain += kernel.T @ kernel
            same += (kernel * t[:, None]).T @ kernel
            target += float(t.sum())
        return plain, same, target, PAIR_SHIFTS * len(self)

    def sampled_logs(self, given: Features) -> np.ndarray:
        """Return the logarithms of the weights of some pairs of different rows."""
        logs, n = self.log_weights(given), len(self)
        places = np.arange(0, n * n, max(n * n // SHARE_ROWS, 1))
        i, j = places // n, places % n
        return np.asarray(logs[i[i != j], j[i != j]], dtype=np.float64)


def _powered(logs: np.ndarray, power: float) -> np.ndarray:
    w = np.exp(np.float32(power) * logs)
    np.fill_diagonal(w, 0.0)
    return np.asarray(w)


class Pairs(Sampled):
    """Entropies of order 2 and information of neighbors, from blocks of rows.

    Parameters
    ----------
    table : Table
        Features and target; rows with frequencies are repeated.
    bandwidth : float
        Of numbers, in standard deviations.
    ranks : bool
        Whether numbers become normal scores.
    seed : int
        Of the rows that make up the blocks, and of permutations.
    workers : int or None
        Threads at most.
    """

    def __init__(
        self,
        table: Table,
        bandwidth: float,
        ranks: bool,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.workers = workers
        self._columns = Columns.of(table.features, bandwidth, ranks)
        self._target = Columns.of([table.target], 1.0, ranks)
        order = np.argsort(_arrays.hashed(seed, 41, len(table))[:, 0])
        self.count = max(1, len(order) // BLOCK_ROWS)
        size = len(order) // self.count
        self._rows = order[: self.count * size].reshape(self.count, size)
        self._blocks: list[Block] = []
        self._power: tuple[tuple[Features, float], float] | None = None
        self._last: tuple[object, list[np.ndarray]] | None = None

    def first(self, candidates: int) -> int:
        """Return how many blocks a first look takes."""
        pairs = float(candidates * self._rows.shape[1] ** 2)
        return int(min(max(FIRST_PAIRS // pairs, 1), FIRST_BLOCKS, self.count))

    def rows(self, blocks: int) -> int:
        """Return how many rows some blocks have."""
        return blocks * self._rows.shape[1]

    def blocks(self, count: int) -> list[Block]:
        """Return the first blocks."""
        for rows in self._rows[len(self._blocks) : count]:
            self._blocks.append(Block(self._columns.take(rows), self._target.take(rows)))
        return self._blocks[:count]

    # ------------------------------------------------------------------ entropies of order 2

    def joint(
        self, candidates: np.ndarray, given: Features, target: bool, look: Look
    ) -> np.ndarray:
        """Return S(x, given), or S(x, given, y), of order 2 without self-pairs."""
        key = ("joint", candidates.tobytes(), given, target, look)
        return self.remembered(
            key, lambda: self._collisions(self._sums(candidates, given, 1.0, look), target, look)
        )

    def alone(self, given: Features, target: bool, look: Look) -> np.ndarray:
        """Return S(given), or S(given, y)."""

        def make() -> np.ndarray:
            blocks = self.blocks(look.blocks)
            sums = parallel(lambda b: b.sums(given, 1.0)[:, :, None], blocks, self.workers)
            return self._collisions(sums, target, Look(look.blocks))[0]

        found = self.remembered(("alone", given, target, look.blocks), make)
        return np.repeat(found[:1], look.permutations) if look.permutations else found

    def _collisions(self, sums: list[np.ndarray], target: bool, look: Look) -> np.ndarray:
        at = [s[:, int(target) :: 2] / (len(s) - 1) for s in sums]  # rows x orders x candidates
        if look.permutations:
            means = np.concatenate(at).mean(axis=0, dtype=np.float64).T
        else:
            whole, without = self._group_means([s[:, 0] for s in at])
            # Each row is in as many pairs as the first as it is as the second.
            means = np.concatenate([whole[:, None], 2 * without - whole[:, None]], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-np.log2(means))

    # ------------------------------------------------------------------ information of neighbors

    def neighbors(
        self, candidates: np.ndarray, given: Features, smoothing: float, share: float, look: Look
    ) -> np.ndarray:
        """Return what the given features and a candidate tell by similar rows, in bits."""
        key = ("neighbors", candidates.tobytes(), given, smoothing, share, look)
        return self.remembered(
            key, lambda: self._neighbors(candidates, given, smoothing, share, look)
        )

    def _neighbors(
        self, candidates: np.ndarray, given: Features, smoothing: float, share: float, look: Look
    ) -> np.ndarray:
        sums = self._sums(candidates, given, self._exponent(given, share), look)
        bits = [
            _bits(s[:, 0::2], s[:, 1::2], self._chances(b, look), smoothing)
            for b, s in zip(self.blocks(look.blocks), sums, strict=True)
        ]
        if look.permutations:
            return np.asarray(np.concatenate(bits).mean(axis=0, dtype=np.float64).T)
        return self._replicated([b[:, 0] for b in bits])

    def neighbors_alone(
        self, given: Features, smoothing: float, share: float, look: Look
    ) -> np.ndarray:
        """Return what the given features tell by similar rows."""
        power = self._exponent(given, share)
        bits = [
            _bits(*np.split(b.sums(given, power), 2, axis=1), b.p[:, None], smoothing)
            for b in self.blocks(look.blocks)
        ]
        found = self._replicated(bits)[0]
        return np.repeat(found[:1], look.permutations) if look.permutations else found

    def neighbors_without(
        self, given: Features, smoothing: float, share: float, look: Look
    ) -> np.ndarray:
        """Return what the given features tell without each of them."""
        power = self._exponent(given, share)

        def of(block: Block) -> np.ndarray:
            sums = block.sums_without(given, power)
            return _bits(sums[:, 0], sums[:, 1], block.p[:, None], smoothing)

        return self._replicated(parallel(of, self.blocks(look.blocks), self.workers))

    def likely_pairs(self, candidates: np.ndarray, count: int) -> list[tuple[int, int]]:
        """Return the pairs of features that tell most by order 2, from sums over pairs of rows.

        With K the kernels of all candidates at pairs of rows, K'K and K'(t K) hold the sums of all
        pairs of features. The mean of t under the weights k_a k_b is compared with that of all,
        over its standard error up to a constant.
        """
        blocks = self.blocks(min(PAIR_BLOCKS, self.count))
        found = parallel(lambda b: b.pair_sums(candidates), blocks, self.workers)
        plain, same = (sum(part) for part in zip(*[f[:2] for f in found], strict=True))
        mean = sum(f[2] for f in found) / sum(f[3] for f in found)
        z = (same - mean * plain) / np.sqrt(np.maximum(plain, LEAST))
        a, b = np.triu_indices(len(candidates), 1)
        order = np.argsort(-z[a, b], kind="stable")[:count]
        pairs = zip(candidates[a[order]].tolist(), candidates[b[order]].tolist(), strict=True)
        return list(pairs)

    def target_entropy(self, look: Look) -> float:
        """Return what there is to be known about the target: -mean log2 p, in bits."""
        p = np.concatenate([block.p for block in self.blocks(look.blocks)])
        return float(-np.mean(np.log2(p[p > 0]))) if (p > 0).any() else 0.0

    def _chances(self, block: Block, look: Look) -> np.ndarray:
        orders = self._orders(block, look)
        return np.stack([block.p[order] for order in orders], axis=1)[:, :, None]

    def _exponent(self, given: Features, share: float) -> float:
        """Return the power of the given weights that leaves enough pairs to count.

        A product of many kernels is zero for nearly all pairs. All bandwidths are widened by a
        common factor until the effective share of pairs, (sum w)^2 / (m sum w^2), is large enough.
        """
        if not given:
            return 1.0
        if self._power is None or self._power[0] != (given, share):
            blocks = self.blocks(min(FIRST_BLOCKS, self.count))
            logs = np.concatenate([block.sampled_logs(given) for block in blocks])
            self._power = ((given, share), _widened(logs, share))
        return self._power[1]

    # ------------------------------------------------------------------ sums over blocks

    def _sums(
        self, candidates: np.ndarray, given: Features, power: float, look: Look
    ) -> list[np.ndarray]:
        key = (candidates.tobytes(), given, power, look)
        if self._last is None or self._last[0] != key:

            def of(block: Block) -> np.ndarray:
                return block.sums_with(given, power, candidates, self._orders(block, look))

            self._last = key, parallel(of, self.blocks(look.blocks), self.workers)
        return self._last[1]

    def _orders(self, block: Block, look: Look) -> list[np.ndarray]:
        if not look.permutations:
            return [np.arange(len(block))]
        stream = 1000 * self._blocks.index(block)
        numbers = range(look.skipped, look.skipped + look.permutations)
        zeros = np.zeros(len(block), dtype=np.int64)
        return [_arrays.permutation(self.seed, 10**6 * (1 + b) + stream, zeros) for b in numbers]

    def _group_means(self, rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean over rows (c), and the means without each group of rows (c x groups)."""
        count = min(GROUPS, len(rows[0]))
        sums, sizes = 0.0, np.zeros(count)
        for part in rows:
            group = np.arange(len(part)) % count
            onto = np.zeros((count, len(part)))
            onto[group, np.arange(len(part))] = 1.0
            sums = sums + onto @ part
            sizes += np.bincount(group, minlength=count)
        total = sums.sum(axis=0)
        return total / sizes.sum(), ((total - sums) / (sizes.sum() - sizes)[:, None]).T

    def _replicated(self, rows: list[np.ndarray]) -> np.ndarray:
        whole, without = self._group_means(rows)
        return np.concatenate([whole[:, None], without], axis=1)


def _bits(total: np.ndarray, same: np.ndarray, p: np.ndarray, smoothing: float) -> np.ndarray:
    """Return log2 of the predicted over the mean probability of each row's own target."""
    # A row that shares its target with nobody predicts nothing, whatever the columns.
    safe = np.where(p > 0, p, 1.0)
    ratio = (same / safe + smoothing) / (total + smoothing)
    return np.where(p > 0, np.log2(ratio), 0.0)


def _widened(logs: np.ndarray, share: float) -> float:
    def effective(power: float) -> float:
        w = np.exp(power * logs)
        return float(w.sum() ** 2 / (len(w) * (w @ w)))

    if effective(1.0) >= share:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) >= share else (low, middle)
    return low
