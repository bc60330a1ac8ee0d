r"""Sums over pairs of rows: what similar rows have in common, for many candidates at once.

Every quantity is a sum of products of kernels between two different rows: :math:`w_{ij}` of the
given features, :math:`k_{ij}` of a candidate, :math:`t_{ij}` of the target. Kernels are
:math:`\exp(-(x_i - x_j)^2 / \sigma^2)`, the square of a Gaussian's, and equality for labels.

Rows are compared within blocks, each pair of rows once for both. Kernels of candidates are computed
where they are needed, as to read them from memory takes as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from lorenyi import _arrays
from lorenyi._progress import counted
from lorenyi._threads import cores, parallel
from lorenyi.selection.blocks import LEAST, Block, Powers, Shown, kind, log_weights, prepared
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.sampled import Features, Look, Sampled
from lorenyi.selection.table import Table, Variable

Choice: TypeAlias = tuple[float | None, float]  # powers of weights before, if apart, and own


class Asked(NamedTuple):
    """What is asked of candidates."""

    quantities: Callable[[Block, np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # of each row
    given: Features
    powers: Powers = (1.0, 1.0)


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
        read = partial(prepared, bandwidth=bandwidth, ranks=ranks, standardize=standard)
        constant = Variable(np.zeros((len(table), 1)), np.zeros((len(table), 0), dtype=np.int64))
        self._features = parallel(read, [*table.features, constant], workers)
        self._sizes = [_size(v) for v in table.features]
        self._target = prepared(table.target, 1.0, ranks, True)
        order = np.argsort(_arrays.hashed(seed, 41, len(table))[:, 0])
        self.count = max(1, len(order) // LIMITS.block)
        self.size = len(order) // self.count
        self._rows = order[: self.count * self.size].reshape(self.count, self.size)
        self._blocks: list[Block] = []
        self._powers: tuple[Features, Powers] = (), (1.0, 1.0)
        self._known: dict[tuple[Asked, int], dict[int, np.ndarray]] = {}  # sums of blocks
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
        means = self._means(Asked(_shares, given), candidates, look)
        if not look.permutations:  # a row is first in as many pairs as it is second
            means = 2 * means - means[:, :, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-np.log2(means))

    def neighbors(self, candidates: np.ndarray, given: Features, look: Look) -> np.ndarray:
        """Return the neighbor information of the given features and a candidate, in bits: c x r.

        Where few rows are similar in all of them, those similar in the given ones predict.
        """
        found = self._means(Asked(_predictions, given, self.powers(given)), candidates, look)
        if look.permutations:
            return np.asarray(found.max(axis=0))
        return np.asarray(found[np.argmax(found[:, :, 0], axis=0), np.arange(found.shape[1])])

    def without_each(self, given: Features) -> np.ndarray:
        """Return the neighbor information of the given features without each of them."""
        powers, blocks = self.powers(given), self.blocks(self.count)

        def of(block: Block) -> np.ndarray:
            apart = block.apart(given)
            rest = [log_weights(apart - block.apart_in(f), *powers) for f in given]
            return np.asarray(block.v @ np.hstack([block.bits(np.exp(log)) for log in rest]))

        sums = parallel(of, blocks, self.workers)
        return np.asarray(np.sum(sums, axis=0) / sum(block.v.sum() for block in blocks))

    def reached(self, features: Features) -> np.ndarray:
        """Return the most information that features in this order show, each with its bandwidth.

        That is chosen on few rows and used on all. A feature that helps with none is left out, so
        that the information never falls.
        """
        blocks = self.blocks(self.count)
        known, shown = self._path
        if not known or features[: len(known)] != known:
            known, shown = (), [block.shown(0 * block.t, every=True) for block in blocks]
        for feature in features[len(known) :]:
            known, before = (*known, feature), list(zip(blocks, shown, strict=True))
            together = [(None, power) for power in LIMITS.together]
            choices = [*together, *(LIMITS.powers if len(known) > 1 else ())]
            tried = parallel(partial(_tried, known, choices), before[: LIMITS.tried], self.workers)
            best = choices[int(np.argmax(np.sum(tried, axis=0)))]
            found = parallel(partial(_longer, known, best, every=True), before, self.workers)
            # A constant adds nothing, though similar rows then count twice.
            constant = [block.smoothed(x.log, x.sums[:, :, :1], x) for block, x in before]
            mean, *others = (np.mean([x.mean for x in each]) for each in (found, constant, shown))
            if len(known) == 1 or mean > max(others):
                shown = found
        self._path = known, shown
        kept = [block.kept for block in blocks]
        bits = [np.einsum("ri,ir->r", v, part.bits) for v, part in zip(kept, shown, strict=True)]
        return np.asarray(np.sum(bits, axis=0) / np.sum(kept, axis=(0, 2)))

    def likely_sets(
        self, x: np.ndarray, size: int, permutation: int = 0
    ) -> list[tuple[float, Features]]:
        """Return the most informative pairs or triples at order 2, from sums over pairs of rows.

        With K the kernels of candidates x at pairs of rows, K'K and K'(t K) hold the sums of all
        pairs. The mean of t under weights k_a k_b is compared with that of all, in standard errors.
        Triples are those of the most likely features, each in turn as a weight. The target is
        permuted if the number of a permutation is given.
        """
        every = LIMITS.shortlist if size == 2 else LIMITS.triples * len(x)  # has all features
        found = self._likely(x, (), permutation, every)
        if size > 2:
            first = list(dict.fromkeys(f for _, pair in found for f in pair))[: LIMITS.triples]
            x = np.sort(first)
            thirds = range(2, len(x))
            found = [
                each for c in thirds for each in self._likely(x[:c], (int(x[c]),), permutation)
            ]
        return sorted(found)[: LIMITS.shortlist]

    def _likely(
        self, x: np.ndarray, third: Features, permutation: int, most: int = LIMITS.shortlist
    ) -> list[tuple[float, Features]]:
        """Return pairs beside a third feature, the most likely first, with their statistics."""
        blocks = self.blocks(2 * LIMITS.first)
        look = Look(len(blocks), min(permutation, 1), max(permutation - 1, 0))
        tasks = [(block, self.orders(look, k)[0]) for k, block in enumerate(blocks)]
        sums = [0.0] * 4
        for k in range(0, len(tasks), cores()):  # a few at a time: they take memory
            some = tasks[k : k + cores()]
            each = parallel(lambda task: task[0].pair_sums(x, third, task[1]), some, self.workers)
            sums = [sum(parts) for parts in zip(sums, *each, strict=True)]
        plain, same, target, count = sums
        z = (target / count * plain - same) / np.sqrt(np.maximum(plain, LEAST))
        a, b = np.triu_indices(len(x), 1)
        order = np.argsort(z[a, b], kind="stable")[:most].tolist()
        return [(float(z[a[k], b[k]]), (int(x[a[k]]), int(x[b[k]]), *third)) for k in order]

    def target_entropy(self) -> float:
        """Return what there is to be known about the target, for neighbors -mean log2 p."""
        if not self.ranks:  # of order 2
            return float(self.alone((), Look(self.first(1)))[1, 0]) + 0.0
        blocks = self.blocks(self.first(1))
        each = [(-np.log2((b.p[:, 0] * b.others + b.v) / (b.others + b.v)), b.v) for b in blocks]
        bits, v = (np.concatenate(part) for part in zip(*each, strict=True))
        return float(np.average(bits, weights=v)) + 0.0

    def powers(self, given: Features) -> Powers:
        """Return the powers of the weights of chosen features, which multiply all their bandwidths.

        Of k features it is 3 / k, at most 1, so that enough rows stay similar; of numbers 2 or 4
        times that if they predict better so: then a near copy adds nothing by narrowing.
        """
        if given and given != self._powers[0]:
            least = min(1.0, LIMITS.full / max(sum(self._sizes[i] for i in given), 1.0))
            tried = [(width * least, least) for width in LIMITS.widths]

            def shown(block: Block) -> list[float]:
                return [block.shown(log_weights(block.apart(given), *p)).mean for p in tried]

            found = np.mean(parallel(shown, self.blocks(LIMITS.first), self.workers), axis=0)
            self._powers = given, tried[int(np.argmax(found))]
        return self._powers[1] if given else (1.0, 1.0)

    def _means(self, asked: Asked, candidates: np.ndarray, look: Look) -> np.ndarray:
        """Return means over all rows of quantities of each candidate: quantities x c x r.

        Sums of a block that other looks have seen are not computed again.
        """
        blocks, wanted = self.blocks(look.blocks), candidates.tolist()
        if look.permutations:
            found = self._sums(asked, candidates, look, range(look.blocks))
            sums, sizes = np.sum(found, axis=0), sum(block.v.sum() for block in blocks)
        else:
            # Those of pairs of features are asked for at every step.
            old = [a for a, _ in self._known if len(a.given) > 1 and a.given != asked.given]
            self._known = {key: own for key, own in self._known.items() if key[0] not in old}
            known = [self._known.setdefault((asked, k), {}) for k in range(look.blocks)]
            new = [k for k, own in enumerate(known) if not own.keys() >= set(wanted)]
            found = self._sums(asked, candidates, look, new)
            for k, each in zip(new, found, strict=True):
                known[k].update(zip(wanted, np.moveaxis(each, 2, 0), strict=True))
            sums = np.stack([np.sum([own[i] for own in known], axis=0) for i in wanted], axis=2)
            sizes = np.sum([block.kept.sum(axis=1) for block in blocks], axis=0)
        return np.asarray(sums.swapaxes(1, 2) / sizes)

    def _sums(
        self, asked: Asked, candidates: np.ndarray, look: Look, new: Sequence[int]
    ) -> list[np.ndarray]:
        """Return sums over the rows of some blocks: quantities x r x c."""
        blocks = self.blocks(look.blocks)
        # Once, before several threads ask for them.
        parallel(lambda k: blocks[k].apart(asked.given), new, self.workers)

        def of(task: tuple[int, np.ndarray]) -> np.ndarray:
            k, features = task
            block, orders = blocks[k], self.orders(look, k)
            w = block.weights(asked.given, asked.powers)
            if look.permutations:  # weights go with what is permuted
                rows = asked.quantities(block, w, block.permuted_sums(w, features, orders), orders)
                return np.asarray((rows * block.v[orders].T[:, :, None]).sum(axis=1))
            rows = asked.quantities(block, w, block.sums_with(w, features), orders)
            return np.asarray(block.kept @ rows[:, :, 0])

        # Fewer blocks than cores: candidates are shared out as well. Those of a kind go together.
        kinds = [kind(self._features[i]) for i in candidates]
        order = np.array(sorted(range(len(kinds)), key=kinds.__getitem__))
        some = min(-(-cores() // max(len(new), 1)), len(candidates))
        tasks = [(k, part) for k in new for part in np.array_split(candidates[order], some)]
        items = f"parts of {len(candidates):,} candidates"
        found = parallel(counted(of, len(tasks), items), tasks, self.workers)
        each = [np.concatenate(found[k : k + some], axis=2) for k in range(0, len(found), some)]
        return [part[:, :, np.argsort(order)] for part in each]


def _shares(block: Block, w: np.ndarray, sums: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return the mean weights of other rows, and of these with the same target."""
    return np.asarray(sums / block.others[orders].T[:, :, None])


def _predictions(block: Block, w: np.ndarray, sums: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return the neighbor information of each row, for each smoothing."""
    before = np.exp2(block.bits(w)[:, 0])
    p, prior = (x.astype(np.float32)[orders].T[:, :, None] for x in (block.p[:, 0], before))
    return np.array([block.predicted(sums[0], sums[1], p, prior, a) for a in block.smoothing])


def _size(variable: Variable) -> float:
    """Return for how many numbers a feature counts: each keeps a share of 1 / sqrt(5) of pairs."""
    if variable.is_constant:
        return 0.0
    size = float(variable.numbers.shape[1])
    if variable.symbols.shape[1]:
        code = _arrays.numbered(*variable.symbols.T)
        share = np.bincount(code) / len(code)
        size -= 2 * float(np.log(share @ share)) / math.log(5)
    return max(size, 1.0)


def _tried(features: Features, choices: Sequence[Choice], item: tuple[Block, Shown]) -> list[float]:
    """Return the information of a block with the last feature, for each choice of powers."""
    return [_longer(features, choice, item).mean for choice in choices]


def _longer(
    features: Features, choice: Choice, item: tuple[Block, Shown], every: bool = False
) -> Shown:
    """Return what a block shows with the last feature as well, for a choice of powers."""
    (block, before), (old, own) = item, choice
    log = log_weights(block.apart(features) if old is None else block.last_apart(features), own)
    return block.shown(log if old is None else log + np.float32(old) * before.log, before, every)
