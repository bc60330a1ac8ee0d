r"""Sums over pairs of rows: what similar rows have in common, for many candidates at once.

Every quantity is a sum of products of kernels between two different rows: :math:`w_{ij}` of the
given features, :math:`k_{ij}` of a candidate, :math:`t_{ij}` of the target. Kernels are
:math:`\exp(-(x_i - x_j)^2 / \sigma^2)`, the square of a Gaussian's, and equality for labels.

Rows are compared within blocks. All candidates are scored at once, by a product of matrices for
each row; kernels are computed where they are needed, as to read them from memory takes as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from lorenyi import _arrays
from lorenyi._progress import counted
from lorenyi._threads import cores, parallel
from lorenyi.selection.blocks import LEAST, Block, Shown, log_weights, prepared
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features, Look, Sampled, replicated
from lorenyi.selection.table import Table


class Pairs(Sampled):
    """Entropies of order 2 and information of neighbors, from blocks of rows.

    With `ranks`, numbers become normal scores; else they are standardized if the table says so.
    """

    def __init__(
        self,
        table: Table,
        bandwidth: float = 1.0,
        ranks: bool = True,
        smoothing: float = 1.0,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        self.ranks, self.smoothing, self.seed, self.workers = ranks, smoothing, seed, workers
        table, self._weights = table.apart()
        standard = table.standardize
        self._features = [prepared(v, bandwidth, ranks, standard) for v in table.features]
        self._target = prepared(table.target, 1.0, ranks, True)
        order = np.argsort(_arrays.hashed(seed, 41, len(table))[:, 0])
        self.count = max(1, len(order) // LIMITS.block)
        self.size = len(order) // self.count
        self._rows = order[: self.count * self.size].reshape(self.count, self.size)
        self._blocks: list[Block] = []
        self._power: tuple[Features, float] = (), 1.0
        self._looked: tuple[object, list[int], list[np.ndarray]] = (), [], []  # sums of a look
        self._path: tuple[Features, Sequence[Shown]] = (), []

    def first(self, candidates: int) -> int:
        """Return how many blocks a first look at so many candidates takes."""
        pairs = float(candidates * self.size**2)
        return int(min(max(LIMITS.first_pairs // pairs, 1), LIMITS.first, self.count))

    def blocks(self, count: int) -> list[Block]:
        """Return the first blocks."""
        for rows in self._rows[len(self._blocks) : count]:
            features = [feature.take(rows) for feature in self._features]
            target, v = self._target.take(rows), self._weights[rows]
            self._blocks.append(Block(features, target, v, self.smoothing))
        return self._blocks[:count]

    def joint(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return S(x, given) and S(x, given, y) of order 2, without self-pairs: 2 x c x r."""
        return self._collisions(self._sums(candidates, given, 1.0, look), look)

    def alone(self, given: Features, look: Look) -> np.ndarray:
        """Return S(given) and S(given, y) of the rows as they are: 2 x (1 + groups)."""
        blocks = self.blocks(look.blocks)
        sums = parallel(lambda b: b.sums(b.weights(given))[:, :, None], blocks, self.workers)
        return self._collisions(sums, Look(look.blocks))[:, 0]

    def _collisions(self, sums: list[np.ndarray], look: Look) -> np.ndarray:
        others = [self._blocks[k].others[self.orders(look, k)].T for k in range(len(sums))]
        both = (
            [s[:, k::2] / m[:, :, None] for s, m in zip(sums, others, strict=True)] for k in (0, 1)
        )
        means = np.array([self._mean(rows, look) for rows in both])
        if not look.permutations:  # a row is first in as many pairs as it is second
            means = 2 * means - means[:, :, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-np.log2(means))

    def neighbors(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return the neighbor information of the given features and a candidate, in bits: c x r.

        Where few rows are similar in all of them, those similar in the given ones predict.
        """
        power = self.power(given)
        sums = self._sums(candidates, given, power, look)

        def of(k: int) -> np.ndarray:
            block, orders = self._blocks[k], self.orders(look, k)
            before = block.bits(block.weights(given, power))[:, 0]
            p, prior = (x[orders].T[:, :, None] for x in (block.p, np.exp2(before)))
            return block.predicted(sums[k][:, 0::2], sums[k][:, 1::2], p, prior)

        return self._mean(parallel(of, range(len(sums)), self.workers), look)

    def without_each(self, given: Features, look: Look) -> np.ndarray:
        """Return the neighbor information of the given features without each of them: k x r."""
        power = self.power(given)

        def of(block: Block) -> np.ndarray:
            apart = block.apart(given)
            rest = [log_weights(apart - block.apart_in(f), power) for f in given]
            return np.concatenate([block.bits(np.exp(log)) for log in rest], axis=1)[:, None]

        return self._mean(parallel(of, self.blocks(look.blocks), self.workers), look)

    def reached(self, features: Features) -> np.ndarray:
        """Return the most information that features in this order show, each with its bandwidth.

        A feature that helps with no bandwidth is left out, so that the information never falls.
        """
        blocks = self.blocks(LIMITS.first)
        known, shown = self._path
        if not known or features[: len(known)] != known:
            known, shown = (), [b.shown(0 * b.t) for b in blocks]
        for feature in features[len(known) :]:
            known, pairs = (*known, feature), list(zip(blocks, shown, strict=True))
            found = parallel(partial(_longer, known), pairs, self.workers)
            *tried, nothing = zip(*found, strict=True)
            best = max(tried, key=_information)
            if len(known) == 1 or _information(best) > max(map(_information, (nothing, shown))):
                shown = [b.moving(s, old) for s, (b, old) in zip(best, pairs, strict=True)]
        self._path = known, shown
        each = [b.v @ s.moves for b, s in zip(blocks, shown, strict=True)]  # what rows do to others
        off = [m - np.average(m, weights=b.v) for b, m in zip(blocks, each, strict=True)]
        rows = [s.bits[:, None] + m[:, None, None] for s, m in zip(shown, off, strict=True)]
        return np.asarray(self._mean(rows, Look(len(blocks)))[0])

    def likely_pairs(self, candidates: np.ndarray, count: int) -> list[tuple[int, int]]:
        """Return the most informative pairs of features at order 2, from sums over pairs of rows.

        With K the kernels of candidates at pairs of rows, K'K and K'(t K) hold the sums of all. The
        mean of t under weights k_a k_b is compared with that of all, in standard errors.
        """
        blocks = self.blocks(2 * LIMITS.first)
        found = parallel(lambda block: block.pair_sums(candidates), blocks, self.workers)
        plain, same, target = (sum(part) for part in zip(*found, strict=True))
        mean = target / (LIMITS.shifts * self.size * len(blocks))
        z = (same - mean * plain) / np.sqrt(np.maximum(plain, LEAST))
        a, b = np.triu_indices(len(candidates), 1)
        order = np.argsort(-z[a, b], kind="stable")[:count]
        return list(zip(candidates[a[order]].tolist(), candidates[b[order]].tolist(), strict=True))

    def target_entropy(self) -> float:
        """Return what there is to be known about the target, for neighbors -mean log2 p."""
        if not self.ranks:  # of order 2
            return super().target_entropy()
        blocks = self.blocks(self.first(1))
        each = [(-np.log2((b.p * b.others + b.v) / (b.others + b.v)), b.v) for b in blocks]
        bits, v = (np.concatenate(part) for part in zip(*each, strict=True))
        return float(np.average(bits, weights=v)) + 0.0

    def power(self, given: Features) -> float:
        """Return the power of the weights of chosen features: it multiplies all their bandwidths.

        Of k features it is 3 / k, at most 1, so that enough rows stay similar, or 2 or 4 times that
        if they predict better so: then a near copy of a chosen one adds nothing by narrowing.
        """
        if given and given != self._power[0]:
            powers = [width * min(1.0, LIMITS.full / len(given)) for width in LIMITS.widths]

            def shown(block: Block) -> list[float]:
                return [block.shown(log_weights(block.apart(given), p)).mean for p in powers]

            found = np.mean(parallel(shown, self.blocks(LIMITS.first), self.workers), axis=0)
            self._power = given, powers[int(np.argmax(found))]
        return self._power[1] if given else 1.0

    def _sums(
        self, candidates: np.ndarray, given: Features, power: float, look: Look
    ) -> list[np.ndarray]:
        """Return the sums of each block; those of the look before are not computed again."""
        look_of = given, power, look.permutations, look.skipped
        before, known, sums = self._looked
        wanted, done = candidates.tolist(), list[np.ndarray]()
        places = {i: k for k, i in enumerate(known)}
        if before == look_of and set(wanted) <= places.keys():
            done = [s[:, :, [places[i] for i in wanted]] for s in sums[: look.blocks]]
        blocks = self.blocks(look.blocks)
        for block in blocks[len(done) :]:
            block.apart(given)  # once, before several threads ask for them

        def of(task: tuple[int, np.ndarray]) -> np.ndarray:
            k, features = task
            w = blocks[k].weights(given, power)
            return blocks[k].sums_with(w, features, self.orders(look, k))

        # Fewer blocks than cores: candidates are shared out as well.
        new = range(len(done), len(blocks))
        some = min(-(-cores() // max(len(new), 1)), len(candidates))
        tasks = [(k, part) for k in new for part in np.array_split(candidates, some)]
        items = f"parts of {len(candidates):,} candidates"
        found = parallel(counted(of, len(tasks), items), tasks, self.workers)
        done += [np.concatenate(found[i : i + some], axis=2) for i in range(0, len(found), some)]
        self._looked = look_of, wanted, done
        return done

    def _mean(self, rows: list[np.ndarray], look: Look) -> np.ndarray:
        """Return the means over all rows, which come as rows x orders x c in blocks: c x r."""
        if look.permutations:  # weights go with what is permuted
            v = [self._blocks[k].v[self.orders(look, k)].T for k in range(len(rows))]
            every = np.concatenate(rows), np.concatenate(v).astype(np.float64)
            return np.asarray(np.einsum("ijc,ij->cj", *every) / every[1].sum(axis=0))
        groups = np.arange(min(LIMITS.groups, self.size))
        own = np.arange(self.size) % len(groups) == groups[:, None]
        each = [own * self._blocks[k].v.astype(np.float64) for k in range(len(rows))]
        sums = np.asarray(sum(v @ part[:, 0] for v, part in zip(each, rows, strict=True)))
        return replicated(sums, np.sum(each, axis=(0, 2)))


def _longer(features: Features, item: tuple[Block, Shown]) -> list[Shown]:
    """Return what a block shows with the last feature as well, for each choice of powers."""
    block, before = item
    together = block.apart(features)
    tried = [log_weights(together, power) for power in LIMITS.together]
    if len(features) > 1:
        powers = product(LIMITS.before, LIMITS.own)
        apart = block.apart_in(features[-1])
        tried += [np.float32(q) * before.log + log_weights(apart, r) for q, r in powers]
    tried.append(before.log)  # a constant: what it adds is nothing
    return [block.shown(log, before) for log in tried]


def _information(shown: Sequence[Shown]) -> float:
    return float(np.mean([part.mean for part in shown]))
