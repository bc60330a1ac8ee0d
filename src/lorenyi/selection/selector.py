"""`InformationSelector`: the greedy search as a scikit-learn selector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from lorenyi._threads import cores, one_thread
from lorenyi.data.columns import Column, unmasked
from lorenyi.data.frames import is_table
from lorenyi.data.reading import in_memory, read_columns, workers_of
from lorenyi.gram.ready import points_of
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.selection import reading
from lorenyi.selection.criteria import Criterion, JointInformation
from lorenyi.selection.search import Stop, forward
from lorenyi.selection.table import Table, Variable


class InformationSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Choose the features that together tell most about the target.

    A greedy search: at each step the candidate with the largest criterion joins the chosen ones,
    by default :math:`I(x, s_1, \dots, s_k; y)`, the information of the whole set. Scores are
    certified intervals that are narrowed until one candidate leads, so the list is that of an
    exact computation.

    Parameters
    ----------
    n_features_to_select : int, float or "auto"
        How many features (groups count once), a share of them, or "auto": go on while the best
        candidate does better than its own permutations (see `level`), but choose at least one.
    criterion : Criterion, optional
        What to maximise; `JointInformation()` by default.
    kernel : Kernel, optional
        Of numeric columns; `Gaussian(1.0)` by default.
    standardize : bool
        Whether numeric columns get mean 0 and standard deviation 1 before the kernel.
    categorical_features : columns, optional
        Nominal columns (numbers, names or a mask), compared by equality; text, booleans and
        categorical dtypes of a data frame are always nominal.
    discrete_features : columns or bool, optional
        Numeric columns whose values are not put into bins by Shannon's criteria; True: all.
    groups : list of columns, optional
        Lists of columns that come in or out together, such as a one-hot block.
    must_include : columns, optional
        Columns that are chosen before all others, in this order.
    task : {"auto", "classification", "regression"}
        Whether the target holds labels (equality kernel) or numbers (standardised, Gaussian).
        "auto": text, booleans and whole numbers with few values are labels.
    missing : {"error", "value"}
        What NaN is: an error, or a value of its own.
    floating : bool
        After each step, take out features without which the rest score better than any set of
        that size before. For `JointInformation`.
    pairs : bool
        Begin with the best two columns instead of the best one, untested: so that columns are
        found which tell something only together, such as those of an exclusive or. The first
        step then takes d / 2 times as long. For `JointInformation`.
    level : float
        With "auto": about the probability of one step too many, where the best of all candidates
        tells nothing more.
    tol : float
        With "auto": bits that a feature must add at least.
    n_permutations : int, optional
        With "auto": permuted columns that a step is compared with; by default 30 for kernels
        and 300 for counts.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : bool
        Whether to tell of each step as it is done.
    random_state : int, RandomState or None
        Seed of the permutations.

    Attributes
    ----------
    indices_ : array of int
        Chosen columns in order of selection.
    scores_ : array
        The criterion when each was chosen, in bits: its most likely value.
    score_bounds_ : array, k x 2
        Certified ends of the scores: they bound the computation, not the sampling.
    p_values_ : array
        With "auto": how likely the best of useless candidates scores as high; NaN where a column
        was not tested.
    support_ : array of bool
        Mask of the chosen columns.
    target_entropy_ : float
        S(y) in bits, measured as in the scores: what there is to be told about the target.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Constant columns and columns that repeat a chosen one (up to shift, scale and, for nominal
    ones, names) tell nothing new: they are chosen only when no others are left. `sample_weight`
    holds frequencies: weight 2 is a row given twice, weight 0 a row left out. Sparse input is
    refused.

    A forward search cannot find two columns that tell something only together while neither does
    alone, except by chance: ask for `pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection import InformationSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = (X[:, 1] * X[:, 4] > 0).astype(int)     # neither column tells anything alone
    >>> X[:, 1] += y                                # ... but for a hint
    >>> selector = InformationSelector(2).fit(X, y)
    >>> selector.indices_
    array([1, 4])
    >>> selector.transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        criterion: Criterion | None = None,
        kernel: Kernel | None = None,
        standardize: bool = True,
        categorical_features: Any = None,
        discrete_features: Any = None,
        groups: Sequence[Any] | None = None,
        must_include: Any = None,
        task: str = "auto",
        missing: str = "error",
        floating: bool = False,
        pairs: bool = False,
        level: float = 0.05,
        tol: float = 0.0,
        n_permutations: int | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.kernel = kernel
        self.standardize = standardize
        self.categorical_features = categorical_features
        self.discrete_features = discrete_features
        self.groups = groups
        self.must_include = must_include
        self.task = task
        self.missing = missing
        self.floating = floating
        self.pairs = pairs
        self.level = level
        self.tol = tol
        self.n_permutations = n_permutations
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> InformationSelector:
        """Choose features of X that tell about y.

        Parameters
        ----------
        X : array or data frame, n x d
            Features.
        y : array or data frame, n or n x t
            Target, or several that count together.
        sample_weight : array of n, optional
            Frequencies of the rows.

        Returns
        -------
        self
        """
        criterion = self._checked_criterion()
        cluster = workers_of(X)
        X, y = in_memory(X, "X"), in_memory(y, "y")
        sample_weight = in_memory(sample_weight, "sample_weight")
        columns, symbol = self._read(X, y)
        target = reading.read_target(y, self.task)
        weights = self._weights(sample_weight, len(columns[0].values))
        units = self._units(len(columns))
        table = self._table(columns, symbol, units, target, weights)
        table = replace(table, cluster=cluster)
        unit_of = {j: u for u, unit in enumerate(units) for j in unit}
        first = list(dict.fromkeys(unit_of[j] for j in self._columns("must_include")))
        count, stop = self._count(criterion, len(units), len(first))
        with one_thread():
            path = forward(
                criterion,
                table,
                count,
                first=first,
                last=[u for u, feature in enumerate(table.features) if feature.constant],
                same=table.repeated(),
                stop=stop,
                floating=self.floating,
                pairs=self.pairs,
                workers=_workers(self.n_jobs),
                progress=_tell if self.verbose else None,
            )
        widths = [len(units[u]) for u in path.features]
        self.indices_ = np.array([j for u in path.features for j in units[u]])
        ends = np.array([[float(s.low), float(s.high)] for s in path.scores])
        self.score_bounds_ = np.repeat(ends, widths, axis=0)
        self.scores_ = np.repeat([float(s) for s in path.scores], widths)
        self.p_values_ = np.repeat(path.p_values, widths)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.indices_] = True
        self.target_entropy_ = path.target_entropy
        return self

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order they have there.

        Parameters
        ----------
        X : array or data frame, n x d
            Features.

        Returns
        -------
        array or data frame, n x k
        """
        check_is_fitted(self)
        kept = _get_output_config("transform", estimator=self)["dense"]
        if kept == "polars" and type(X).__module__.split(".")[0] == "polars":
            validate_data(self, X, skip_check_array=True, reset=False)
            return X[:, np.flatnonzero(self.support_).tolist()]  # dtypes stay as they are
        return super().transform(X)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what this selector takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing == "value"
        tags.input_tags.categorical = True
        return tags

    # ------------------------------------------------------------------ what was given

    def _checked_criterion(self) -> Criterion:
        criterion = JointInformation() if self.criterion is None else self.criterion
        if not isinstance(criterion, Criterion):
            raise TypeError(
                f"criterion={criterion!r}: give a criterion such as JointInformation() or JMI()"
            )
        for option in ("floating", "pairs"):
            if getattr(self, option) and not criterion.of_the_set:
                raise ValueError(
                    f"{option}=True needs a criterion of the whole set such as "
                    f"JointInformation(), not {criterion!r}"
                )
        if self.missing not in ("error", "value"):
            raise ValueError(f"missing={self.missing!r}: it is 'error' or 'value'")
        return criterion

    def _read(self, X: Any, y: Any) -> tuple[list[Column], list[bool]]:
        """Return the columns of X, and which of them are nominal; y must have the same rows."""
        kind = getattr(getattr(X, "dtype", None), "kind", "f")
        if is_table(X) or self._typed(X, kind):
            columns = read_columns(X)
            validate_data(self, X, skip_check_array=True)
        else:
            if kind in "mM":  # times are numbers here
                X = np.where(np.isnat(X), np.nan, np.asarray(X).astype(np.float64))
            X = validate_data(self, X, ensure_all_finite=False, ensure_min_samples=2)
            columns = read_columns(X)
        reading.require_aligned(X, y)
        reading.require_values(columns, self.missing == "value")
        symbol = [(column.kind == "label") for column in columns]
        for j in self._columns("categorical_features"):
            symbol[j] = True
        return columns, symbol

    def _typed(self, X: Any, kind: str) -> bool:
        """Tell whether an array has columns of different kinds, or a mask."""
        named = kind in "US" and self.categorical_features is not None
        masked = isinstance(X, np.ma.MaskedArray)
        return getattr(X, "ndim", 0) == 2 and (named or masked or kind == "O")

    def _columns(self, what: str) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        return reading.positions(getattr(self, what), names, self.n_features_in_, what)

    def _units(self, count: int) -> list[list[int]]:
        """Return the columns of each feature: groups, and all others alone."""
        names = getattr(self, "feature_names_in_", None)
        groups = [reading.positions(g, names, count, "groups") for g in self.groups or []]
        grouped = [j for group in groups for j in group]
        if len(set(grouped)) < len(grouped):
            raise ValueError("groups: a column is in two groups; each may be in one")
        alone = [[j] for j in range(count) if j not in grouped]
        return sorted(alone + [g for g in groups if g], key=lambda unit: unit[0])

    def _table(
        self,
        columns: list[Column],
        symbol: list[bool],
        units: list[list[int]],
        target: Variable,
        weights: np.ndarray | None,
    ) -> Table:
        keep = np.zeros(len(columns), dtype=bool)
        if isinstance(self.discrete_features, (bool, np.bool_)):
            keep[:] = self.discrete_features
        else:
            keep[self._columns("discrete_features")] = True
        features = [
            reading.variable(
                [columns[j] for j in u], [symbol[j] for j in u], [bool(keep[j]) for j in u]
            )
            for u in units
        ]
        kernel = Gaussian(1.0) if self.kernel is None else self.kernel
        return Table(features, target, weights, kernel, self.standardize).folded()

    def _weights(self, sample_weight: Any, n: int) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(
            unmasked(sample_weight, "sample_weight"),  # which the check would ignore
            np.empty((n, 1)),
            dtype=np.float64,
            ensure_non_negative=True,
        )
        points_of(weights, "sample_weight")
        return np.asarray(weights)

    def _count(self, criterion: Criterion, features: int, required: int) -> tuple[int, Stop | None]:
        """Return how many features to choose at most, and when to stop before."""
        wanted = self.n_features_to_select
        if isinstance(wanted, str) and wanted == "auto":
            if not isinstance(self.level, Real) or not 0 < self.level < 1:
                raise ValueError(f"level={self.level!r}: it must lie between 0 and 1")
            if not isinstance(self.tol, Real) or self.tol != self.tol:
                raise ValueError(f"tol={self.tol!r}: it must be a number of bits")
            copies = self.n_permutations
            if copies is None:
                copies = 300 if criterion.entropy is None else 30
            if not isinstance(copies, Integral) or isinstance(copies, bool) or copies < 5:
                raise ValueError(
                    f"n_permutations={copies!r}: it must be an integer of at least 5, or None"
                )
            return features, Stop(self.level, self.tol, copies, _seed(self.random_state))
        number = isinstance(wanted, (int, float, np.number)) and not isinstance(wanted, bool)
        if number and isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
            wanted = max(1, round(float(wanted) * features))
        whole = number and not isinstance(wanted, (float, np.floating))
        if not whole or not max(required, 1) <= int(wanted) <= features:
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select!r}: it must be 'auto', a share, "
                f"or an integer from {max(required, 1)} to the {features} features of X"
            )
        return int(wanted), None


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _workers(n_jobs: int | None) -> int | None:
    if n_jobs is None or n_jobs == -1:
        return None
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a number of threads, -1 or None for all cores")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def _tell(line: str) -> None:
    import sys

    sys.stderr.write(f"InformationSelector: {line}\n")
