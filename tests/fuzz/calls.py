"""Cases as calls of the package, as a user would write them."""

import numpy as np
import pandas as pd

import lorenyi as lr


def call(case, entropy):
    """Return what the measure gives."""
    values, options = arguments(case)
    measure = getattr(lr, case.measure)
    if case.measure.startswith("conditional"):
        return measure(*values[:-1], given=values[-1], entropy=entropy, **options)
    return measure(*values, entropy=entropy, **options)


def arguments(case):
    """Return the arguments of the call: raw where nothing but data is given, else Grams."""
    w = given_weights(case)
    if is_plain(case):
        built = [[v.build() for v in a] for a in case.arguments]
        return [b[0] if len(b) == 1 else tuple(b) for b in built], {"weights": w}
    made = []
    for i, argument in enumerate(case.arguments):
        grams = [gram(v, w, f"argument {i}") for v in argument]
        made.append(grams[0] if len(grams) == 1 else tuple(grams))
    return made, {}


def is_plain(case):
    """Tell whether data is given as it is: then arrays of any library become NumPy's."""
    return all(_is_plain(argument) for argument in case.arguments)


def _is_plain(argument):
    if any(v.kernel is not None for v in argument):
        return False
    return len(argument) == 1 or any(v.container not in ("list", "tuple") for v in argument)


def gram(variable, w, name="x"):
    kernel = None if variable.kernel is None else variable.kernel.build()
    return lr.gram(variable.build(), kernel, weights=w, name=name)


def given_weights(case):
    w = case.weights
    if w is None or case.weights_as == "numpy":
        return w
    if case.weights_as == "list":
        return w.tolist()
    return pd.Series(w) if case.weights_as == "pandas" else w.astype(np.float32)
