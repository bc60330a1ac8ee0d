r"""Information from pairs of rows: what the targets of similar rows tell about a row's own.

With a weight :math:`w_{ij}`, the product of the kernels of the chosen columns between two rows,
and :math:`t_{ij}` that of the target (1 for equal labels), row i predicts its own target from the
others:

.. math:: \hat p_i = \frac{\sum_{j \ne i} w_{ij} t_{ij} + a\, p_i}{\sum_{j \ne i} w_{ij} + a},
          \qquad I = \frac1n \sum_i \log_2 \frac{\hat p_i}{p_i},

:math:`p_i` being the mean of :math:`t_{ij}`. It is a leave-one-out estimate of the information
that the columns share with the target, in bits: columns of noise lower it, so it needs no
correction for their number, and each row has its own term, so it has a standard error.

Rows are taken in blocks, each of which is compared within itself. All candidates are scored at
once, by two products of matrices for each row, and kernels are made anew wherever they are needed:
to read them from memory takes as long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from lorenyi import _arrays
from lorenyi._threads import parallel
from lorenyi.data.sources import slices
from lorenyi.selection.table import Table, Variable

BLOCK_ROWS = 500  # rows compared with each other; of fewer than twice as many there is one block
FIRST_BLOCKS = 3  # of more rows, to begin with
MAX_BLOCKS = 128  # 64,000 rows
CHUNK = 2**18  # numbers of a piece of a kernel: they stay in the cache
LEAST = np.float32(1e-12)  # a kernel value below is none


@dataclass(frozen=True)
class Columns:
    """The columns of some variables, as the kernel reads them.

    Parameters
    ----------
    numbers : array, n x d
        Normal scores over the bandwidth, float32.
    labels : array, n x e
        Codes, float32.
    places : list
        For each variable, which columns of `numbers` and of `labels` are its own.
    """

    numbers: np.ndarray
    labels: np.ndarray
    places: list[tuple[list[int], list[int]]]

    @classmethod
    def of(cls, variables: Sequence[Variable], bandwidth: float) -> Columns:
        """Prepare variables: numbers become normal scores, a missing value a label of its own."""
        numbers: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        places = []
        for variable in variables:
            own: tuple[list[int], list[int]] = ([], [])
            for column in variable.numbers.T:
                missing = np.isnan(column)
                own[0].append(len(numbers))
                numbers.append(normal_scores(column) / bandwidth)
                if missing.any():
                    own[1].append(len(labels))
                    labels.append(missing)
            for column in variable.symbols.T:
                own[1].append(len(labels))
                labels.append(column)
            places.append(own)
        n = len(variables[0].symbols)
        return cls(_stacked(numbers, n), _stacked(labels, n), places)

    def take(self, rows: np.ndarray) -> Columns:
        """Return the columns at some rows."""
        return Columns(self.numbers[rows], self.labels[rows], self.places)

    def kernel(self, rows: slice, features: Sequence[int]) -> np.ndarray:
        """Return the kernel of some rows with all, for each feature: rows x n x features."""
        out = np.empty((rows.stop - rows.start, len(self.numbers), len(features)), np.float32)
        single = [(k, self.places[f][0][0]) for k, f in enumerate(features) if self._plain(f)]
        if single:
            at, columns = (list(part) for part in zip(*single, strict=True))
            here = self.numbers[rows][:, columns]
            difference = here[:, None, :] - self.numbers[None][:, :, columns]
            np.multiply(difference, difference, out=difference)
            np.exp(np.negative(difference, out=difference), out=difference)
            if len(at) == len(features):
                return np.asarray(difference)
            out[:, :, at] = difference
        for k, f in enumerate(features):
            if not self._plain(f):
                out[:, :, k] = self._product(rows, f)
        return out

    def _plain(self, feature: int) -> bool:
        numbers, labels = self.places[feature]
        return len(numbers) == 1 and not labels

    def _product(self, rows: slice, feature: int) -> np.ndarray:
        numbers, labels = self.places[feature]
        found = np.ones((rows.stop - rows.start, len(self.numbers)), np.float32)
        for column in self.numbers[:, numbers].T:
            found *= np.exp(-((column[rows, None] - column[None, :]) ** 2))
        for column in self.labels[:, labels].T:
            found *= column[rows, None] == column[None, :]
        return found


def _stacked(columns: list[np.ndarray], n: int) -> np.ndarray:
    if not columns:
        return np.zeros((n, 0), np.float32)
    return np.stack(columns, axis=1).astype(np.float32)


def normal_scores(x: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks, with standard deviation 1; zeros for NaN.

    Ranks make the kernel indifferent to the scale and the tails of a column.
    """
    there = ~np.isnan(x)
    scores = np.zeros(len(x))
    if there.any():
        scores[there] = ndtri((rankdata(x[there]) - 0.5) / there.sum())
    deviation = float(scores.std())
    return scores / deviation if deviation > 0 else scores


@dataclass(frozen=True, eq=False)
class Scores:
    """What candidates add to the information of the chosen set, row by row.

    Attributes
    ----------
    features : array of int
        Candidates.
    rows : array, rows x candidates
        The information of the set with each candidate, less that of the set without, in bits.
    """

    features: np.ndarray
    rows: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """Mean over rows."""
        return np.asarray(self.rows.mean(axis=0, dtype=np.float64))

    @property
    def standard_error(self) -> np.ndarray:
        """Of the gains."""
        return np.asarray(self.rows.std(axis=0, dtype=np.float64) / math.sqrt(len(self.rows)))

    def lead(self, best: int) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much one candidate leads over each, and the standard errors of that."""
        difference = self.rows[:, [best]] - self.rows
        error = difference.std(axis=0, dtype=np.float64) / math.sqrt(len(difference))
        return np.asarray(difference.mean(axis=0, dtype=np.float64)), np.asarray(error)


class Block:
    """Some rows, all pairs of them, and the weights of the chosen columns between them."""

    def __init__(self, columns: Columns, target: Columns, smoothing: float) -> None:
        self.columns, self.smoothing = columns, smoothing
        n = len(columns.numbers)
        self.t = target.kernel(slice(0, n), range(len(target.places)))[:, :, 0].copy()
        np.fill_diagonal(self.t, 0.0)
        self.p = self.t.sum(axis=1, dtype=np.float64) / (n - 1)
        self.log_weights = np.zeros((n, n), np.float32)

    def add(self, feature: int) -> None:
        """Take a column into the chosen set."""
        n = len(self.t)
        kernel = self.columns.kernel(slice(0, n), [feature])[:, :, 0]
        self.log_weights += np.log(np.maximum(kernel, LEAST))

    def weights(self, exponent: float) -> np.ndarray:
        """Return the product of the kernels of the chosen columns, to a power, less equal rows."""
        w = np.exp(np.float32(exponent) * self.log_weights)
        np.fill_diagonal(w, 0.0)
        return np.asarray(w)

    def base(self, w: np.ndarray) -> np.ndarray:
        """Return the information of the chosen set, row by row."""
        total = w.sum(axis=1, dtype=np.float64)
        same = np.einsum("ij,ij->i", w, self.t, dtype=np.float64)
        return self._bits(same, total, self.p)

    def scores(
        self, w: np.ndarray, features: np.ndarray, order: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the information of the set with each candidate: rows x candidates.

        With an `order`, the candidates' columns stay and all else is permuted.
        """
        t, p = self.t, self.p
        if order is not None:
            w, t, p = w[np.ix_(order, order)], t[np.ix_(order, order)], p[order]
        both = np.stack([w, w * t], axis=1)  # rows x 2 x rows
        n = len(t)
        found = np.empty((n, 2, len(features)), np.float32)
        wide = max(1, min(len(features), 64))
        for some in slices(len(features), wide):
            part = features[some].tolist()
            for rows in slices(n, max(1, CHUNK // (n * len(part)))):
                kernel = self.columns.kernel(rows, part)
                found[rows, :, some] = np.matmul(both[rows], kernel)
        return self._bits(found[:, 1], found[:, 0], p[:, None])

    def _bits(self, same: np.ndarray, total: np.ndarray, p: np.ndarray) -> np.ndarray:
        # A row that shares its target with nobody predicts nothing, whatever the columns.
        safe = np.where(p > 0, p, 1.0)
        a = self.smoothing
        ratio = (same / safe + a) / (total + a)
        return np.where(p > 0, np.log2(ratio), 0.0)


class Neighbors:
    """The engine: blocks of rows, of which more are taken while a step is not decided.

    Parameters
    ----------
    table : Table
        Features and target; rows with frequencies are repeated.
    bandwidth, smoothing, share : float
        As for `NeighborInformation`.
    seed : int
        Of the rows that make up the blocks.
    workers : int or None
        Threads at most.
    """

    def __init__(
        self,
        table: Table,
        bandwidth: float,
        smoothing: float,
        share: float,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        table = table.expanded(seed)
        self.smoothing, self.share, self.workers = smoothing, share, workers
        self.columns = Columns.of(table.features, bandwidth)
        self.target = Columns.of([table.target], 1.0)
        order = np.argsort(_arrays.hashed(seed, 41, len(table))[:, 0])
        size = BLOCK_ROWS if len(order) >= 2 * BLOCK_ROWS else len(order)
        count = min(len(order) // size, MAX_BLOCKS)
        self._rows = order[: count * size].reshape(count, size)
        self.chosen: list[int] = []
        self.blocks: list[Block] = []
        self._grow_to(min(FIRST_BLOCKS, count))

    def _grow_to(self, count: int) -> None:
        for rows in self._rows[len(self.blocks) : count]:
            block = Block(self.columns.take(rows), self.target.take(rows), self.smoothing)
            for feature in self.chosen:
                block.add(feature)
            self.blocks.append(block)

    @property
    def rows(self) -> int:
        """How many rows are compared."""
        return sum(len(block.t) for block in self.blocks)

    def grow(self) -> bool:
        """Take twice as many rows; tell whether there were more."""
        before = len(self.blocks)
        self._grow_to(min(2 * before, len(self._rows)))
        return len(self.blocks) > before

    def add(self, feature: int) -> None:
        """Take a feature into the chosen set."""
        self.chosen.append(feature)
        for block in self.blocks:
            block.add(feature)

    @property
    def target_entropy(self) -> float:
        """What there is to be known: -mean log2 p, in bits."""
        p = np.concatenate([block.p for block in self.blocks])
        return float(-np.mean(np.log2(p[p > 0]))) if (p > 0).any() else 0.0

    def exponent(self) -> float:
        """Return the power of the chosen weights that leaves enough pairs to count.

        A product of many kernels is zero for nearly all pairs. All bandwidths are widened by a
        common factor until the effective share of pairs, (sum w)^2 / (m sum w^2), is large enough.
        """
        if not self.chosen:
            return 1.0
        logs = np.concatenate([_sampled_pairs(block.log_weights) for block in self.blocks[:8]])

        def effective(power: float) -> float:
            w = np.exp(power * logs)
            return float(w.sum() ** 2 / (len(w) * (w @ w)))

        low, high = 0.0, 1.0
        if effective(1.0) >= self.share:
            return 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if effective(middle) >= self.share else (low, middle)
        return low

    def base(self) -> np.ndarray:
        """Return the information of the chosen set, row by row."""
        power = self.exponent()
        return np.concatenate([block.base(block.weights(power)) for block in self.blocks])

    def scores(self, features: np.ndarray) -> Scores:
        """Return what each candidate adds to the chosen set."""
        power = self.exponent()

        def of(block: Block) -> np.ndarray:
            w = block.weights(power)
            return np.asarray(block.scores(w, features) - block.base(w)[:, None])

        found = parallel(of, self.blocks, self.workers)
        return Scores(features, np.concatenate(found))

    def permuted_gains(self, features: np.ndarray, seed: int, count: int) -> np.ndarray:
        """Return gains of candidates whose columns are permuted together: count x candidates."""
        power = self.exponent()

        def of(task: tuple[int, int]) -> np.ndarray:
            number, b = task
            block = self.blocks[b]
            w, n = block.weights(power), len(block.t)
            order = np.argsort(_arrays.hashed(seed, 100 + number * MAX_BLOCKS + b, n)[:, 0])
            gains = block.scores(w, features, order) - block.base(w)[order][:, None]
            return np.asarray(gains.sum(axis=0, dtype=np.float64))

        tasks = [(number, b) for number in range(count) for b in range(len(self.blocks))]
        found = np.array(parallel(of, tasks, self.workers))
        return np.asarray(found.reshape(count, len(self.blocks), -1).sum(axis=1) / self.rows)


def _sampled_pairs(logs: np.ndarray) -> np.ndarray:
    """Return the logarithms of the weights of some pairs of different rows."""
    n = len(logs)
    step = max(n * n // 20_000, 1)
    places = np.arange(0, n * n, step)
    i, j = places // n, places % n
    return np.asarray(logs[i[i != j], j[i != j]], dtype=np.float64)
