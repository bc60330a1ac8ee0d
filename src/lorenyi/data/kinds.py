"""Whether a column holds numbers or categories: one rule for everybody.

- Text, truth values and categorical types are categories.
- Whole numbers of at most ten distinct values are categories: class labels, digits, ratings, codes.
- All other numbers are numbers: ages, counts, years, prices, zip codes, identifiers.
- Dates, times and durations are numbers, in days.

The type of the numbers does not matter: 3, 3.0 and an object that is 3 are one value (but floats
must repeat to be categories: 0.0, 1.0, 2.0 alone are numbers). Several
columns of an array of numbers are one vector a row, and not categories. Where the rule is not what
you mean, say so: `gram(x, Delta())` takes values as categories, `gram(x, Gaussian())` as numbers.
"""

from __future__ import annotations

import numpy as np

MAX_LEVELS = (
    10  # with ten nominal labels equality finds 73 % of dependences, distance 13 %; of ages
)
# (about 70 values) equality finds 22 % and distance 72 %
LOOK = 1000  # values that are looked at first


def is_categorical(values: np.ndarray) -> bool:
    """Tell whether a column of numbers holds categories: few distinct whole numbers."""
    levels = len(few_levels(values))
    return levels > 0 and (values.dtype.kind != "f" or 2 * levels <= len(values))


def few_levels(values: np.ndarray) -> np.ndarray:
    """Return the distinct values of whole numbers; once there are too many, or fractions, none.

    NaN does not count.
    """
    for part in (values[:LOOK], values[LOOK:]):
        if part.dtype.kind == "f":
            part = part[~np.isnan(part)]
            if not np.all(np.isfinite(part)) or not np.all(part == np.round(part)):
                return values[:0]
        if len(np.unique(part)) > MAX_LEVELS:
            return values[:0]
    found = np.unique(values)
    found = found[~np.isnan(found)] if found.dtype.kind == "f" else found
    return found if len(found) <= MAX_LEVELS else values[:0]
