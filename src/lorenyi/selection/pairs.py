r"""Sums over pairs of rows: what similar rows have in common, for many candidates at once.

Every quantity here is a sum of products of kernels between two different rows: :math:`w_{ij}` of
the features that are given, :math:`k_{ij}` of a candidate, :math:`t_{ij}` of the target (1 for
equal labels). Kernels are :math:`\exp(-(x_i - x_j)^2 / \sigma^2)`, the square of a Gaussian's,
and equality for labels.

Rows are taken in blocks, each of which is compared within itself. All candidates are scored at
once, by a product of matrices for each row, and kernels are computed wherever they are needed: to
read them from memory takes as long.
"""

from __future__ import annotations

import numpy as np

from lorenyi import _arrays
from lorenyi._progress import counted
from lorenyi._threads import cores, parallel
from lorenyi.selection.blocks import LEAST, Block, Columns, Scale, bits, log_weights, weights
from lorenyi.selection.sampled import GROUPS, Features, Look, Sampled
from lorenyi.selection.table import Table

BLOCK_ROWS = 500  # at least, that are compared with each other: fewer choose worse columns
FIRST_BLOCKS = 4  # 2,000 rows, which choose as well as 4,000 do: -0.16 +- 0.08 points of accuracy
FIRST_PAIRS = 1e9  # kernel values of a first look at most: a second
PAIR_BLOCKS = 8  # from which pairs of features are ranked
# Powers of the weights before and of the next feature that are tried for the score of a path; twice
# as many raise it by 0.01 bits on average over eleven tables.
POWERS = tuple((before, own) for before in (1.0, 0.7) for own in (1.0, 0.5, 0.2))


class Pairs(Sampled):
    """Entropies of order 2 and information of neighbors, from blocks of rows.

    Parameters
    ----------
    table : Table
        Features and target; rows with frequencies are repeated.
    bandwidth : float
        Of numbers, in standard deviations.
    scale : {"ranks", "standard", "none"}
        Whether numbers become normal scores, are standardized, or stay as they are.
    seed : int
        Of the rows that make up the blocks, and of permutations.
    workers : int or None
        Threads at most.
    """

    def __init__(
        self,
        table: Table,
        bandwidth: float,
        scale: Scale,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.workers = workers
        self._columns = Columns.of(table.features, bandwidth, scale)
        self._target = Columns.of([table.target], 1.0, "ranks" if scale == "ranks" else "standard")
        order = np.argsort(_arrays.hashed(seed, 41, len(table))[:, 0])
        self.count = max(1, len(order) // BLOCK_ROWS)
        size = len(order) // self.count
        self._rows = order[: self.count * size].reshape(self.count, size)
        self._blocks: list[Block] = []
        self._power: tuple[tuple[Features, float], float] | None = None
        self._last: tuple[object, np.ndarray, list[np.ndarray]] | None = None
        self._fitted: Fitted | None = None

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
        return self._collisions(self._sums(candidates, given, 1.0, look), target, look)

    def alone(self, given: Features, target: bool, look: Look) -> np.ndarray:
        """Return S(given), or S(given, y)."""
        blocks = self.blocks(look.blocks)
        sums = parallel(
            lambda b: b.sums(weights(b.apart(given), 1.0))[:, :, None], blocks, self.workers
        )
        found = self._collisions(sums, target, Look(look.blocks))[0]
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
        """Return the neighbor information of the given features and a candidate, in bits.

        Where few rows are similar in all of them, those similar in the given ones predict.
        """
        power = self._exponent(given, share)
        sums = self._sums(candidates, given, power, look)
        blocks = self.blocks(look.blocks)
        ratios = parallel(
            lambda b: np.exp2(b.bits(weights(b.apart(given), power), smoothing)[:, 0]),
            blocks,
            self.workers,
        )
        found = []
        for block, s, before in zip(blocks, sums, ratios, strict=True):
            orders = [slice(None) if o is None else o for o in self._orders(block, look)]
            p, prior = (np.stack([x[o] for o in orders], axis=1) for x in (block.p, before))
            found.append(bits(s[:, 0::2], s[:, 1::2], p[:, :, None], smoothing, prior[:, :, None]))
        if look.permutations:
            return np.asarray(np.concatenate(found).mean(axis=0, dtype=np.float64).T)
        return self._replicated([f[:, 0] for f in found])

    def neighbors_without(
        self, given: Features, smoothing: float, share: float, look: Look
    ) -> np.ndarray:
        """Return the neighbor information of the given features without each of them."""
        power = self._exponent(given, share)

        def of(block: Block) -> np.ndarray:
            apart = block.apart(given)
            rest = [weights(apart - block.apart_in(f), power) for f in given]
            return np.concatenate([block.bits(w, smoothing) for w in rest], axis=1)

        return self._replicated(parallel(of, self.blocks(look.blocks), self.workers))

    def reached(self, features: Features, smoothing: float) -> np.ndarray:
        """Return the most information that features in this order show, each with its bandwidth."""
        if self._fitted is None:
            self._fitted = Fitted(
                self.blocks(min(FIRST_BLOCKS, self.count)), smoothing, self.workers
            )
        return np.asarray(self._replicated(self._fitted.bits(features))[0])

    def likely_pairs(self, candidates: np.ndarray, count: int) -> list[tuple[int, int]]:
        """Return the most informative pairs of features at order 2, from sums over pairs of rows.

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
        """Return what there is to be known about the target: -mean log2 p, each row with itself."""
        blocks = self.blocks(look.blocks)
        p = np.concatenate([(block.p * (len(block) - 1) + 1) / len(block) for block in blocks])
        return float(-np.mean(np.log2(p))) + 0.0

    def _exponent(self, given: Features, share: float) -> float:
        """Return the power of the given weights that leaves enough pairs to count.

        A product of many kernels is zero for nearly all pairs. All bandwidths are widened by a
        common factor until the effective share of pairs, (sum w)^2 / (m sum w^2), is large enough.
        """
        if not given:
            return 1.0
        if self._power is None or self._power[0] != (given, share):
            blocks = self.blocks(min(FIRST_BLOCKS, self.count))
            apart = np.concatenate([block.sampled(given) for block in blocks], axis=1)
            self._power = ((given, share), _widened(apart, share))
        return self._power[1]

    # ------------------------------------------------------------------ sums over blocks

    def _sums(
        self, candidates: np.ndarray, given: Features, power: float, look: Look
    ) -> list[np.ndarray]:
        """Return the sums of each block; those of the look before are not computed again."""
        key = (given, power, look.permutations, look.skipped)
        done: list[np.ndarray] = []
        if self._last is not None and self._last[0] == key:
            place = {i: k for k, i in enumerate(self._last[1].tolist())}
            at = [place.get(i, -1) for i in candidates.tolist()]
            done = [s[:, :, at] for s in self._last[2][: look.blocks]] if min(at) >= 0 else []
        blocks = self.blocks(look.blocks)[len(done) :]
        for block in blocks:
            block.apart(given)  # once, before several threads ask for them

        def of(task: tuple[Block, np.ndarray]) -> np.ndarray:
            block, features = task
            return block.sums_with(given, power, features, self._orders(block, look))

        # Fewer blocks than cores: candidates are shared out as well.
        some = min(-(-cores() // max(len(blocks), 1)), len(candidates))
        tasks = [(b, part) for b in blocks for part in np.array_split(candidates, some)]
        items = f"parts of {len(candidates):,} candidates"
        found = parallel(counted(of, len(tasks), items), tasks, self.workers)
        rows = [found[i : i + some] for i in range(0, len(found), some)]
        done += [np.concatenate(row, axis=2) for row in rows]
        self._last = key, candidates, done
        return done

    def _orders(self, block: Block, look: Look) -> list[np.ndarray | None]:
        if not look.permutations:
            return [None]
        stream = 1000 * self._blocks.index(block)
        numbers = range(look.skipped, look.skipped + look.permutations)
        zeros = np.zeros(len(block), dtype=np.int64)
        return [_arrays.permutation(self.seed, 10**6 * (1 + b) + stream, zeros) for b in numbers]

    def _group_means(self, rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean over rows (c), and the means without each group of rows (c x groups)."""
        count = min(GROUPS, len(rows[0]))
        sums, sizes = np.zeros((count, rows[0].shape[1])), np.zeros(count)
        for part in rows:
            group = np.arange(len(part)) % count
            onto = np.zeros((count, len(part)))
            onto[group, np.arange(len(part))] = 1.0
            sums += onto @ part
            sizes += np.bincount(group, minlength=count)
        total = sums.sum(axis=0)
        return total / sizes.sum(), ((total - sums) / (sizes.sum() - sizes)[:, None]).T

    def _replicated(self, rows: list[np.ndarray]) -> np.ndarray:
        whole, without = self._group_means(rows)
        return np.concatenate([whole[:, None], without], axis=1)


class Fitted:
    """Weights of features in order, each to the power that makes rows predict each other best.

    A feature that helps at no power is left out, so that the information never falls.
    """

    def __init__(self, blocks: list[Block], smoothing: float, workers: int | None) -> None:
        self.blocks, self.smoothing, self.workers = blocks, smoothing, workers
        self._start()

    def _start(self) -> None:
        self._features: Features = ()
        self._logs = [np.zeros_like(block.t) for block in self.blocks]
        self._bits = [np.zeros((len(block), 1)) for block in self.blocks]

    def bits(self, features: Features) -> list[np.ndarray]:
        """Return the information of each row, block by block."""
        if features[: len(self._features)] != self._features:
            self._start()
        for feature in features[len(self._features) :]:
            self._add(feature)
        return self._bits

    def _add(self, feature: int) -> None:
        powers = POWERS if self._features else ((1.0, 1.0),)

        def of(item: tuple[Block, np.ndarray, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
            block, before, known = item
            apart = block.apart_in(feature)
            logs = [np.float32(q) * before + log_weights(apart, r) for q, r in powers]
            return [(part, block.bits(np.exp(part), self.smoothing, known)) for part in logs]

        items = list(zip(self.blocks, self._logs, self._bits, strict=True))
        found = parallel(of, items, self.workers)
        tried = [([f[k][0] for f in found], [f[k][1] for f in found]) for k in range(len(powers))]
        best = max(tried, key=lambda t: float(np.mean(t[1])))
        if not self._features or np.mean(best[1]) > np.mean(self._bits):
            self._logs, self._bits = best
        self._features = (*self._features, feature)


def _widened(apart: np.ndarray, share: float) -> float:
    def effective(power: float) -> float:
        w = weights(apart, power).astype(np.float64)
        return float(w.sum() ** 2 / (len(w) * (w @ w)))

    if effective(1.0) >= share:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) >= share else (low, middle)
    return low
