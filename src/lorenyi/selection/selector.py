"""`InformationSelector`: the greedy search as a scikit-learn selector."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import false_discovery_control
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from lorenyi._progress import Progress, reporting
from lorenyi._threads import one_thread
from lorenyi.data.columns import Column
from lorenyi.data.reading import is_elsewhere, take_columns
from lorenyi.kernels import Gaussian, Kernel
from lorenyi.selection import options, reading
from lorenyi.selection.certified import Certified
from lorenyi.selection.criteria import BaseCriterion, NeighborInformation
from lorenyi.selection.estimated import Estimated
from lorenyi.selection.limits import LIMITS
from lorenyi.selection.path import SelectionPath
from lorenyi.selection.sampled import Sampled
from lorenyi.selection.search import Search
from lorenyi.selection.table import Table
from lorenyi.selection.terms import Terms


@dataclass(eq=False, repr=False)
class InformationSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Choose the features that are jointly most informative about the target.

    A greedy search: at each step the candidate with the largest criterion joins the chosen ones. By
    default that is `NeighborInformation`, a leave-one-out estimate of the information that the set
    shares with the target, with its standard error. Close candidates are compared on more rows;
    those that stay within a standard error of the best are named in `path_`.

    Parameters
    ----------
    n_features_to_select : int, float or {"auto", "relevant", "smallest"}
        How many features (groups count once), or a share of them. "auto": go on while the best
        candidate, the first included, adds something and scores better than the best of permuted
        ones (see `level`); there may be none. "relevant": those, and every feature that is
        informative by itself, redundant or not, with a false discovery rate of at most `level`.
        "smallest": the shortest part of that path within a standard error of its best score.
    criterion : criterion
        What to maximize. With a `Renyi` entropy, such as `JointInformation(Renyi(2, rank=100))`,
        scores are certified intervals, narrowed until one candidate leads.
    kernel : Kernel, optional
        Of numeric columns, for criteria with an entropy; `Gaussian(1.0)` by default.
    standardize : bool
        Whether numeric columns get mean 0 and standard deviation 1 before the kernel.
    categorical_features : "auto", columns or None
        Columns compared by equality (numbers, names or a mask), as text, booleans and categorical
        types always are; Shannon's criteria put all others into bins. "auto": whole numbers with at
        most ten distinct values.
    feature_groups : list of columns, optional
        Lists of columns that come in or out together, such as a one-hot block.
    must_include : columns, optional
        Columns that are chosen before all others, in this order.
    task : {"auto", "classification", "regression"}
        Whether the target holds labels or numbers. "auto": by the rule for features, so say
        "classification" where more than ten whole numbers are classes.
    missing : {"value", "error"}
        What NaN in X is: a value of its own, as in scikit-learn's trees, or an error.
    direction : {"forward", "backward"}
        Backward: begin with all features and take out the least needed. For criteria of the set.
    floating : bool
        After each step forward, take out features without which the rest score better than any set
        of that size before. For criteria of the set.
    start : {"single", "pair", "triple"}
        Begin with the best one, two or three columns together, to find columns that are informative
        only together (an exclusive or). For criteria of the set. With "auto" that set is tested as
        a whole at half the level, and its features beside each other.
    level : float
        Probability of choosing a feature, at a step, although none is informative.
    tol : float
        With "auto": a feature must add more than so many bits.
    n_permutations : int, optional
        Compared with at each step, at least; by default as many as `level` needs: for 0.05, 19, or
        59 where these do not make it clear; where a first look takes some rows only, 24 or 74, and
        then 99; for a `Renyi` entropy 30 or 120, to which a curve is fitted. If given with a number
        of features, steps have p-values (required ones and a start have none) and none ends it.
    max_seconds : float, optional
        No step is begun after that.
    n_jobs : int, optional
        Threads: None is 1, -1 all cores.
    progress : bool or callable, optional
        None: a bar after some seconds on a terminal; or a function of a message and a number.
    random_state : int, RandomState or None
        Seed of the rows looked at and of permutations.

    Attributes
    ----------
    indices_, names_ : arrays
        Numbers and names of the chosen columns, in order of selection.
    scores_, standard_errors_, gains_ : arrays
        The criterion when each was chosen, in bits, its sampling error, and what each added.
    p_values_ : array
        How likely the best of useless candidates scores as high; NaN where that was not tested.
    score_bounds_ : array, k x 2
        Certified ends of the scores, where the entropy is a `Renyi`: they bound the computation.
    path_ : SelectionPath
        Every step: candidates, scores, errors, p-values, and ties within a standard error.
    support_, ranking_ : arrays
        Mask of the chosen columns; places from 1 on, others behind as the last step saw them.
    target_entropy_ : float
        The entropy of the target, measured as in the scores.
    relevance_p_values_ : array
        With "relevant": of each column by itself.
    categorical_, task_, kernel_, criterion_, feature_groups_
        What was decided: which columns are categories, what the target is, with which kernel (of
        `NeighborInformation` squared, on normal scores).
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Constant columns and columns that repeat a chosen one (up to shift, scale and, for categories,
    names) add nothing: they are chosen only when no others are left, and so are, by Shannon's and
    Renyi's criteria, labels of more than ten levels with fewer than five rows in each.
    `sample_weight` holds frequencies: weight 2 is a row given twice, 0 a row left out. Copies of
    rows do not predict each other. Of more rows than the criterion looks at (16,000 by default), so
    many are drawn at random; of Dask collections and Parquet data a million at most. Sparse input
    is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from lorenyi.selection import InformationSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = (X[:, 1] * X[:, 4] > 0).astype(int)     # neither column is informative alone
    >>> X[:, 1] += y                                # ... now one is
    >>> selector = InformationSelector(2).fit(X, y)
    >>> selector.indices_
    array([1, 4])
    >>> selector.transform(X).shape
    (200, 2)
    """

    n_features_to_select: int | float | str = "auto"
    _: KW_ONLY
    criterion: BaseCriterion = NeighborInformation()
    kernel: Kernel | None = None
    standardize: bool = True
    categorical_features: Any = "auto"
    feature_groups: Sequence[Any] | None = None
    must_include: Any = None
    task: str = "auto"
    missing: str = "value"
    direction: str = "forward"
    floating: bool = False
    start: str = "single"
    level: float = 0.05
    tol: float = 0.0
    n_permutations: int | None = None
    max_seconds: float | None = None
    n_jobs: int | None = None
    progress: Progress = None
    random_state: Any = 0

    _parameter_constraints = options.CONSTRAINTS

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> InformationSelector:
        """Choose features of X that are informative about y, and return the selector.

        Parameters
        ----------
        X : array or data frame, n x d
        y : array or data frame, n or n x t
            Target, or several that count together.
        sample_weight : array of n, optional
            Frequencies of the rows.
        """
        self._validate_params()
        options.check(self)
        self.__dict__.pop("relevance_p_values_", None)  # of a fit before
        seed = options.seed_of(self.random_state)
        table = self._table(X, y, sample_weight, seed)
        judge = self._judge(table, seed)
        wanted = self.n_features_to_select
        if wanted in ("relevant", "smallest") and isinstance(judge, Certified):
            raise ValueError(
                f"n_features_to_select={wanted!r} needs scores with sampling errors: a criterion "
                "such as NeighborInformation() or JMI(), without a Renyi entropy"
            )
        columns, units = _check_feature_names_in(self), self.feature_groups_
        names = [", ".join(columns[unit]) for unit in units]
        unit_of = {j: u for u, unit in enumerate(units) for j in unit}
        given = self._positions("must_include", self.must_include)
        first = tuple(dict.fromkeys(unit_of[j] for j in given))
        search = Search(self, table, names, first, judge)
        whole = len(units) - search.count if self.direction == "backward" else search.count
        with one_thread(), reporting(self.progress, whole, "features") as report:
            path = getattr(search, self.direction)(report)
            if wanted == "smallest" and path.steps:
                size = max(judge.smallest(path.features), len(first))
                path.steps, path.refused = path.steps[:size], [*path.steps, path.refused][size]
            chosen = list(path.features)
            if wanted == "relevant":
                chosen += self._relevant(judge, search, chosen)
        self._keep(path, chosen)
        if not chosen and (why := self._why_nothing(path, search, table)):
            warnings.warn(f"no feature was selected: {why}", UserWarning, stacklevel=2)
        return self

    def _why_nothing(self, path: SelectionPath, search: Search, table: Table) -> str:
        """Return why nothing was chosen; nothing where time was over."""
        count = len(table.features)
        if len(search.last) < count and not table.target.is_constant:
            rows = f"{table.total:,.0f} rows (level={self.level:g}); ask for a number to choose it"
            best = f"the best of {count}, {path.best_refused}, is no more informative about y than"
            return f"{best} chance on {rows} all the same" if path.refused is not None else ""
        if all(feature.is_constant for feature in table.features) or table.target.is_constant:
            return "X or y is constant"
        return "labels have fewer than five rows a level; ask for a number, or group their levels"

    def _judge(self, table: Table, seed: int) -> Any:
        """Return what compares candidates of a table by the criterion."""
        engine = self.criterion.engine(table, seed, effective_n_jobs(self.n_jobs))
        if isinstance(engine, Sampled):
            return Estimated(self.criterion, engine)
        return Certified(self.criterion, engine, table, seed)

    def _table(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Table:
        """Return what the search reads; set the attributes that say how it was read."""
        most = getattr(self.criterion, "rows", LIMITS.rows) if self.criterion.by_pairs else None
        X, y, weights = reading.looked_at(X, y, sample_weight, most, seed)
        columns = reading.features_of(self, X)
        reading.require_aligned(X, y)
        reading.require_values(columns, self.missing == "value")
        self.categorical_ = self._categorical(columns)
        target = reading.read_target(y, self.task)
        self.task_ = "classification" if target.symbols.shape[1] else "regression"
        self.feature_groups_ = self._units(len(columns))
        bandwidth = getattr(self.criterion, "bandwidth", 1.0)
        self.kernel_ = Gaussian(float(bandwidth)) if self.kernel is None else self.kernel
        self.criterion_ = self.criterion
        features = [
            reading.variable([columns[j] for j in unit], self.categorical_[unit])
            for unit in self.feature_groups_
        ]
        return Table(features, target, weights, self.kernel_, self.standardize).folded()

    def _categorical(self, columns: list[Column]) -> np.ndarray:
        """Tell which columns hold categories."""
        said = self.categorical_features
        if isinstance(said, str) and said == "auto":
            return np.array([column.categorical for column in columns])
        found = np.array([column.kind == "label" for column in columns])
        found[self._positions("categorical_features", said)] = True
        return found

    def _units(self, count: int) -> list[list[int]]:
        """Return the columns of each feature: groups, and all others alone."""
        given = self.feature_groups or []
        if any(isinstance(group, (str, int)) for group in given):
            raise ValueError(
                f"feature_groups={given!r}: give a list of groups, each of which is a list of "
                "columns, such as [['a', 'b'], ['c', 'd']]"
            )
        groups = [self._positions("feature_groups", group) for group in given]
        grouped = [j for group in groups for j in group]
        if len(set(grouped)) < len(grouped):
            raise ValueError("feature_groups: a column is in two groups; each may be in one")
        alone = [[j] for j in range(count) if j not in grouped]
        return sorted(alone + [g for g in groups if g], key=lambda unit: unit[0])

    def _positions(self, what: str, wanted: Any) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        return reading.positions(wanted, names, self.n_features_in_, what)

    def _relevant(self, judge: Any, search: Search, chosen: list[int]) -> list[int]:
        """Return the features that are informative by themselves and not chosen, the best first."""
        p = np.ones(len(self.feature_groups_))
        varied = np.setdiff1d(np.arange(len(p)), search.last)
        if len(varied):
            p[varied] = judge.relevance(varied, self.level)
        self.relevance_p_values_ = np.full(self.n_features_in_, np.nan)
        for unit, value in zip(self.feature_groups_, p, strict=True):
            self.relevance_p_values_[unit] = value
        found = np.flatnonzero(false_discovery_control(p) <= self.level).tolist()
        return sorted((u for u in found if u not in chosen), key=lambda u: (p[u], u))

    def _keep(self, path: SelectionPath, chosen: list[int]) -> None:
        """Set the attributes that a search leads to; features beyond its steps have no scores."""
        units = self.feature_groups_
        self.path_, self.target_entropy_ = path, path.target_entropy
        self.indices_ = np.array([j for u in chosen for j in units[u]], dtype=np.int64)
        self.names_ = _check_feature_names_in(self)[self.indices_]
        self.support_ = np.isin(np.arange(self.n_features_in_), self.indices_)
        self.ranking_ = np.empty(self.n_features_in_, dtype=np.int64)
        for rank, u in enumerate([*chosen, *path.others(chosen)], start=1):
            self.ranking_[units[u]] = rank
        found = np.full((6, len(chosen)), np.nan)
        for k, s in enumerate(path):
            found[:, k] = s.score, s.standard_error, s.gain, s.p_value, *s.bounds
        found = np.repeat(found, [len(units[u]) for u in chosen], axis=1)
        self.scores_, self.standard_errors_, self.gains_, self.p_values_ = found[:4]
        self.score_bounds_ = found[4:].T

    def terms(self, X: Any, y: Any, sample_weight: Any = None) -> Callable[..., Terms]:
        """Return a function of candidates and given features (numbers of `feature_groups_`).

        It gives their `Terms`, such as relevance and redundancy, measured as `fit` does.
        """
        seed = options.seed_of(self.random_state)
        table = clone(self)._table(X, y, sample_weight, seed)
        return cast(Callable[..., Terms], self._judge(table, seed).terms)

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order they have there, in its library."""
        check_is_fitted(self)
        if is_elsewhere(X) and not isinstance(X, np.ndarray):
            names = getattr(self, "feature_names_in_", None)
            known = self.n_features_in_ if names is None else list(names)
            return take_columns(X, np.flatnonzero(self.support_), known)
        kept = _get_output_config("transform", estimator=self)["dense"]
        if kept == "polars" and type(X).__module__.split(".")[0] == "polars":
            validate_data(self, X, skip_check_array=True, reset=False)
            return X[:, np.flatnonzero(self.support_).tolist()]  # dtypes stay as they are
        return super().transform(X)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing == "value"
        tags.input_tags.categorical = True
        return tags

    def set_params(self, **params: Any) -> InformationSelector:
        """Set parameters, those of the criterion too: criterion__bandwidth, say."""
        own = {k: v for k, v in params.items() if not k.startswith("criterion__")}
        super().set_params(**own)
        changes = {k.removeprefix("criterion__"): params[k] for k in params if k not in own}
        if not changes:
            return self
        known = self.criterion.get_params()
        if unknown := sorted(set(changes) - set(known)):
            raise ValueError(
                f"Invalid parameter criterion__{unknown[0]}: {self.criterion!r} has "
                f"{', '.join(known)}"
            )
        self.criterion = replace(self.criterion, **changes)  # type: ignore[type-var]
        return self
