"""Tests for the causal searches of causal-learn and tigramite, which are imported only here."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from lorenyi.inference.conditional import conditional_independence_test
from lorenyi.inference.independence import IndependenceTest, independence_test
from lorenyi.inference.permuting import MIN_BLOCKS

__all__ = ["causal_learn_test", "tigramite_test"]


def _tested(
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    permutations: int,
    level: float | None,
    seed: int,
    block: int | None = None,
) -> IndependenceTest:
    """Test columns given others, if any; a search runs many tests and warns only once."""
    if z.shape[1] == 0:
        return independence_test(
            x, y, permutations=permutations, level=level, block=block, seed=seed
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("once", "given has .* columns of numbers", UserWarning)
        return conditional_independence_test(
            x, y, z, permutations=permutations, level=level, block=block, seed=seed
        )


def causal_learn_test(
    name: str = "lorenyi", *, permutations: int = 199, level: float | None = 0.05, seed: int = 0
) -> str:
    """Register the tests with causal-learn, and return the name to give to a search.

    Parameters
    ----------
    name : str
        Name of the test there.
    permutations : int
        Number of permutations of a test; the search's alpha must be at least 1 / (1 + m).
    level : float, optional
        Tests end early where p <= level is out of reach: the search's alpha or more.
    seed : int
        Seed of the permutations.

    Examples
    --------
    ``pc(data, alpha=0.05, indep_test=causal_learn_test())``
    """
    try:
        from causallearn.utils.cit import CIT_Base, register_ci_test
    except ImportError as missing:
        raise ImportError("causal_learn_test needs pip install causal-learn") from missing

    class Test(CIT_Base):  # type: ignore[misc]
        """Columns of a data matrix, tested given others."""

        def __init__(self, data: np.ndarray, **options: Any) -> None:
            super().__init__(data, **options)
            self.check_cache_method_consistent(name, f"{permutations}-{level}-{seed}")
            self.assert_input_data_is_valid()

        def __call__(self, X: int, Y: int, condition_set: Any = None) -> float:
            """Return the p-value of columns X and Y given those of the condition set."""
            xs, ys, zs, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
            if key not in self.pvalue_cache:
                x, y, z = (self.data[:, columns] for columns in (xs, ys, zs))
                self.pvalue_cache[key] = _tested(x, y, z, permutations, level, seed).pvalue
            return float(self.pvalue_cache[key])

    register_ci_test(name, Test)
    return name


class _Links:
    """The interface of a tigramite test: rows of an array, assigned to x, y, z by `xyz`."""

    measure = "lorenyi"
    two_sided = residual_based = recycle_residuals = False

    def __init__(
        self, permutations: int, level: float | None, block: int | None, seed: int, verbosity: int
    ) -> None:
        self._options = permutations, level, seed
        self._block = block
        self._last: tuple[bytes, Any] = (b"", None)
        super().__init__(  # type: ignore[call-arg]
            significance="shuffle_test", seed=seed, verbosity=verbosity
        )

    def _found(self, array: np.ndarray, xyz: np.ndarray) -> Any:
        """Return the test of these rows; the last one is cached, as it is needed twice."""
        key = array.tobytes() + np.asarray(xyz).tobytes()
        if key != self._last[0]:
            x, y, z = (array[np.asarray(xyz) == part].T for part in range(3))
            length = math.isqrt(len(x)) if self._block is None else self._block
            length = min(length, len(x) // MIN_BLOCKS)
            self._last = key, _tested(x, y, z, *self._options, length if length > 1 else None)
        return self._last[1]

    def get_dependence_measure(
        self, array: np.ndarray, xyz: np.ndarray, data_type: Any = None
    ) -> float:
        """Return the information beyond chance, in bits."""
        return float(self._found(array, xyz).excess)

    def get_shuffle_significance(
        self,
        array: np.ndarray,
        xyz: np.ndarray,
        value: float,
        return_null_dist: bool = False,
        data_type: Any = None,
    ) -> Any:
        """Return the p-value, with the null on request."""
        found = self._found(array, xyz)
        return (found.pvalue, found.null) if return_null_dist else found.pvalue


def tigramite_test(
    *,
    permutations: int = 199,
    level: float | None = None,
    block: int | None = 1,
    seed: int = 0,
    verbosity: int = 0,
) -> Any:
    """Return a test for tigramite's searches, such as ``PCMCI(frame, tigramite_test())``.

    The value of a link is the information that it has beyond chance, in bits.

    Parameters
    ----------
    permutations : int
        Number of permutations of a test.
    level : float, optional
        Tests end early where p <= level is out of reach: the search's alphas or more.
    block : int, optional
        Length of the blocks of rows that permutations move. 1: rows are exchangeable given the
        condition. None: the root of the number of rows.
    seed : int
        Seed of the permutations.
    verbosity : int
        Of tigramite.
    """
    try:
        from tigramite.independence_tests.independence_tests_base import CondIndTest
    except ImportError as missing:
        raise ImportError("tigramite_test needs pip install tigramite") from missing

    class Test(_Links, CondIndTest):  # type: ignore[misc]
        """The test, as one of tigramite's."""

    return Test(permutations, level, block, seed, verbosity)
