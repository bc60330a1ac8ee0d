"""Rényi entropies of features and target, as certified intervals: here or on workers."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from lorenyi.estimate import Estimate
from lorenyi.functionals import Renyi
from lorenyi.joints import Joint, Joints, Variables, Wanted
from lorenyi.selection.sampled import Features
from lorenyi.selection.table import Table


class Kernels(Joints):
    """Certified entropies of the features and the target of a table."""

    def __init__(self, table: Table, entropy: Renyi, workers: int | None = None) -> None:
        labels = table.target.numbers.shape[1] == 0
        classes = table.target.values if labels else np.zeros(len(table), dtype=np.int64)
        order, weights = np.argsort(classes, kind="stable"), table.weights
        if weights is not None:
            order = order[weights[order] > 0]
        rows = table.take(order, None if weights is None else weights[order])
        variables = Variables(
            rows.gram,
            lambda i: rows.features[i].values,
            rows.target_gram(),
            rows.target.values,
            labels,
            table.total,
        )
        super().__init__(variables, entropy, workers)
        self._spread = None
        if table.cluster is not None:
            self._spread = table.cluster(replace(table, cluster=None))

    def measure(
        self, missing: list[tuple[Joint, int, Wanted]], given: Features, target: bool
    ) -> None:
        """Learn more of the joints of some candidates; several at once on a cluster."""
        if self._spread is None or len(missing) == 1:
            return super().measure(missing, given, target)
        asked = [(self.entropy, i, given, target, wanted) for _, i, wanted in missing]
        for (joint, _, wanted), there in zip(
            missing, self._spread(_on_a_worker, asked), strict=True
        ):
            joint.learned(there, wanted)
        return None


_THERE: WeakKeyDictionary[Table, dict[Renyi, Kernels]] = WeakKeyDictionary()


def _on_a_worker(table: Table, asked: tuple[Renyi, int, Features, bool, Wanted]) -> Estimate | None:
    """Measure a joint on a worker, which keeps what it knows of a table."""
    entropy, i, given, target, wanted = asked
    known = _THERE.setdefault(table, {})
    if entropy not in known:  # of a copy: what is kept must not keep the table itself
        known[entropy] = Kernels(replace(table), entropy, 1)
    here = known[entropy]
    here.joint(np.array([i]), given, target, wanted.tol, wanted.side, wanted.enough)
    return here.known((*given, i), target).found
