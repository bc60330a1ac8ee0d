"""Variables drawn at random: values of many shapes, in every container, with any kernel."""

from dataclasses import replace

import numpy as np

from fuzz.data import FOREIGN, INTEGERS, Column, Variable
from fuzz.kernels import Kernel, Rule

# --------------------------------------------------------------------------------- points


def points(draw, n, d, single, digits=160):
    """Return n x d numbers of one of many shapes, and what they are called."""
    rng = draw.rng
    shape = draw.weighted(
        normal=20,
        uniform=8,
        grid=12,
        constant=3,
        clusters=8,
        collinear=8,
        far=8,
        heavy=6,
        line=5,
        near=6,
        halves=5,
        zeros=3,
        counts=8,
    )
    X = rng.normal(size=(n, d))
    if shape == "uniform":
        X = rng.random((n, d))
    elif shape == "grid":
        X = rng.integers(0, draw.between(2, 4), size=(n, d)).astype(float)
    elif shape == "constant":
        X = np.full((n, d), rng.normal())
    elif shape == "clusters":
        X = 18.0 * rng.choice([-1.0, 1.0], size=(n, 1)) + draw.one(0.0, 0.1, 1.0) * X
    elif shape == "collinear":
        X = X[:, :1] * rng.normal(size=(1, d))
    elif shape == "far":
        X[draw.between(0, n - 1)] *= draw.power(1, 17)
    elif shape == "heavy":
        X = np.sinh(3 * X)
    elif shape == "line":
        X = np.linspace(0.0, 1.0, n)[:, None] * np.arange(1, d + 1)
    elif shape == "near":  # pairs of rows that nearly agree
        X = X[rng.integers(0, max(n // 2, 1), size=n)] * (1 + draw.power(-15, -3) * X)
    elif shape == "halves":
        X = X[rng.integers(0, max(n // 2, 1), size=n)]
    elif shape == "zeros":
        X = X * (rng.random((n, 1)) < 0.7)
    elif shape == "counts":  # whole numbers: about as many as are taken for categories
        X = rng.integers(0, draw.one(8, 10, 11, 12, 40), size=(n, d)).astype(float)
    if d > 1 and draw.chance(0.07):
        X[:, draw.between(0, d - 1)] = rng.normal()
        shape += ", a constant column"
    scale = 1.0
    if draw.chance(0.3):
        scale = draw.power(-14, 14) if single else draw.power(-min(digits, 160), min(digits, 155))
        shape += f" x {scale:.1e}"
    if draw.chance(0.2):
        offset = draw.power(0, 8)
        X = X + offset * draw.one(-1.0, 1.0)
        shape += f" + {offset:.1e}"
    return X * scale, scale, shape


def variable(draw, n, foreign):
    """Return a variable of any kind."""
    made = _variable(draw, n, foreign)
    if made.kernel is not None and made.kernel.single and made.container in FOREIGN:
        return replace(made, kernel=replace(made.kernel, single=False))  # written for NumPy
    return made


def _variable(draw, n, foreign):
    kind = draw.weighted(
        numbers=50, labels=14, text=8, frame=14, matrix=8, bool=5, times=4, objects=4
    )
    if kind == "numbers":
        return _numbers(draw, n, foreign)
    if kind == "labels":
        return _integers(draw, n, foreign)
    if kind == "text":
        return _text(draw, n)
    if kind == "frame":
        return _frame(draw, n)
    if kind == "matrix":
        return _matrix(draw, n, foreign)
    if kind == "times":
        return _times(draw, n)
    return _objects(draw, n) if kind == "objects" else _truths(draw, n, foreign)


def _truths(draw, n, foreign):
    d = draw.one(1, 1, 1, 2, 3)
    flat = d == 1 and draw.chance(0.7)
    columns = [Column(draw.rng.random(n) < 0.4, "bool") for _ in range(d)]
    container = foreign if foreign != "no" else draw.weighted(numpy=6, list=3, memmap=1)
    kernel = _kernel(draw, d, 1.0, True)
    return Variable(tuple(columns), container, flat, kernel=kernel)


def _times(draw, n):
    """Dates, times and durations in arrays of their own types, or as Python's objects."""
    d = draw.one(1, 1, 2)
    flat = d == 1 and draw.chance(0.7)
    columns = [time_column(draw, n) for _ in range(d)]
    kinds = {c.values.dtype for c in columns}
    container = draw.weighted(numpy=5, list=2, object=2, memmap=1)
    container = container if len(kinds) == 1 else "object"
    kernel = _kernel(draw, d, 1.0, False)
    layout = draw.one("plain", "readonly", "reversed") if container == "numpy" else "plain"
    return Variable(tuple(columns), container, flat, layout, kernel)


def time_column(draw, n):
    """Return some weeks or years, in whole units of time."""
    unit = draw.one("D", "s", "ms", "us")
    kind = draw.one("M", "M", "m")
    day = {"D": 1, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6}[unit]
    days = draw.rng.random(n) * draw.one(3, 30, 3000)
    values = np.floor(days * day).astype(np.int64) + (kind == "M") * draw.one(0, 12_000) * day
    return Column(values.astype(f"{kind}8[{unit}]"), "time")


def _objects(draw, n):
    """Columns of Python's objects, each of one kind."""
    columns = []
    for _ in range(draw.between(1, 3)):
        kind = draw.weighted(number=4, integer=4, text=2, bool=1, time=2)
        if kind == "number":
            columns.append(Column(points(draw, n, 1, False, 60)[0][:, 0], "number"))
        elif kind == "integer":
            values = draw.rng.integers(0, draw.one(2, 9, 11, 50), size=n)
            columns.append(Column(values, "number"))
        elif kind == "text":
            columns.append(Column([WORDS[i] for i in draw.rng.integers(0, 5, size=n)], "symbol"))
        elif kind == "bool":
            columns.append(Column(draw.rng.random(n) < 0.5, "bool"))
        else:
            columns.append(time_column(draw, n))
    kernel = Kernel("Delta") if draw.chance(0.2) else None
    if all(c.kind in ("number", "time") for c in columns) and draw.chance(0.2):
        kernel = Kernel("Gaussian", Rule(draw.one("median", "standardized", "scott")))
    flat = len(columns) == 1 and draw.chance(0.6)
    return Variable(tuple(columns), "object", flat, kernel=kernel)


def _numbers(draw, n, foreign):
    container = foreign
    if foreign == "no":
        container = draw.weighted(numpy=70, list=8, tuple=2, memmap=4)
    dtype = draw.weighted(float64=60, float32=22, float16=8, longdouble=8)
    if container in ("list", "tuple"):
        dtype = "float64"
    if container in ("torch", "strict"):
        dtype = draw.one("float32", "float64")
    d = draw.weighted(**{"1": 40, "2": 20, "3": 12, "5": 10, "8": 6, "12": 4})
    d = int(d)
    X, scale, note = points(draw, n, d, dtype != "float64")
    with np.errstate(over="ignore"):
        cast = X.astype(dtype)
    if dtype == "float16" and not np.all(np.isfinite(cast)):
        cast = np.clip(X, -6e4, 6e4).astype(dtype)
    flat = d == 1 and draw.chance(0.7)
    layout = draw.weighted(plain=60, reversed=8, strided=8, fortran=8, readonly=8)
    columns = tuple(Column(column, "number") for column in cast.T.copy())
    kernel = _kernel(draw, d, scale, False)
    return Variable(columns, container, flat, layout, kernel, note=note)


def _integers(draw, n, foreign):
    dtype = draw.one(*INTEGERS)
    container = foreign
    if foreign == "no":
        container = draw.weighted(numpy=70, list=15, memmap=4)
    if container == "torch":
        dtype = draw.one("int8", "int16", "int32", "int64", "uint8")
    info = np.iinfo(dtype)
    d = draw.one(1, 1, 1, 2, 3)
    high = draw.one(1, 2, 5, 9, 10, 20)
    X = draw.rng.integers(0, high + 1, size=(n, d)).astype(dtype)
    note = ""
    if draw.chance(0.15):  # at the end of the type's range
        X, note = info.max - X, "near the largest"
        X = X.astype(dtype)
    flat = d == 1 and draw.chance(0.8)
    kernel = _kernel(draw, d, 1.0, True)
    if (
        kernel is not None
        and kernel.name in ("Linear", "Cosine", "Polynomial")
        and draw.chance(0.8)
    ):
        X = np.maximum(X, 1).astype(dtype)  # a row of zeros has no direction
    columns = tuple(Column(column, "number") for column in X.T.copy())
    return Variable(columns, container, flat, "plain", kernel, note=note)


WORDS = ["a", "b", "cc", "", " ", "a ", "ä", "\u4e2d\u6587", "nan", "None", "0", "A"]


def _text(draw, n):
    container = draw.weighted(numpy=40, list=25, object=25)
    words = WORDS if draw.chance(0.5) else [f"word {i}" for i in range(draw.one(2, 5, 300))]
    d = draw.one(1, 1, 2)
    columns = []
    as_bytes = draw.chance(0.3)
    for _ in range(d):
        values = [words[i] for i in draw.rng.integers(0, len(words), size=n)]
        values = [v.encode() for v in values] if as_bytes else values
        columns.append(Column(values, "symbol"))
    kernel = Kernel("Delta") if draw.chance(0.3) else None
    if draw.chance(0.03):
        kernel = Kernel("Gaussian", 1.0)
    return Variable(tuple(columns), container, d == 1, "plain", kernel)


def _frame(draw, n):
    library = draw.one("pandas", "polars")
    flat = draw.chance(0.4)
    made = [_frame_column(draw, n, library) for _ in range(1 if flat else draw.between(1, 4))]
    columns, scales, notes = zip(*made, strict=True)
    kernel = None
    if draw.chance(0.4) and all(c.kind in ("number", "time") for c in columns):
        kernel = _kernel(draw, len(columns), max(scales), False)
    elif draw.chance(0.2):
        kernel = Kernel("Delta")
    elif draw.chance(0.03):
        kernel = Kernel("Gaussian", 1.0)
    note = " | ".join(note for note in notes if note)
    return Variable(columns, library, flat, "plain", kernel, note=note)


def _frame_column(draw, n, library):
    kind = draw.weighted(float64=30, float32=20, integer=15, category=12, string=12, bool=6, time=6)
    if kind == "time":
        return time_column(draw, n), 1.0, ""
    if kind in ("float64", "float32"):
        # Squares of one column beside those of another: not so far apart that one is nothing.
        X, scale, note = points(draw, n, 1, kind == "float32", 60)
        nullable = library == "pandas" and draw.chance(0.3)
        dtype = kind.capitalize() if nullable else ""
        return Column(X[:, 0].astype(kind), "number", dtype), scale, note
    if kind == "integer":
        dtype = draw.one("int8", "int64", "uint8", "int32")
        nullable = library == "pandas" and draw.chance(0.3)
        values = draw.rng.integers(0, draw.one(2, 5, 11, 100), size=n).astype(dtype)
        shown = dtype.replace("i", "I").replace("uI", "UI") if nullable else ""
        return Column(values, "number", shown), 1.0, ""
    if kind == "bool":
        nullable = library == "pandas" and draw.chance(0.3)
        values = draw.rng.random(n) < 0.5
        return Column(values, "bool", "boolean" if nullable else ""), 1.0, ""
    values = [WORDS[i] for i in draw.rng.integers(0, draw.one(2, 5, 12), size=n)]
    shown = "category" if kind == "category" else draw.one("string", "object")
    return Column(values, "symbol", shown), 1.0, ""


def _matrix(draw, n, foreign):
    """A ready matrix: positive semi-definite, dense or sparse."""
    rng = draw.rng
    kind = draw.weighted(full=30, low=30, kernel=25, blocks=10, sparse=30)
    if kind == "sparse":
        upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < draw.one(0.02, 0.2)), 1)
        K = upper + upper.T
        K += np.diag(np.abs(K).sum(axis=1) + rng.random(n) + 1e-3)
    elif kind == "kernel":
        x = rng.normal(size=n)
        K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2)
    elif kind == "blocks":
        label = rng.integers(0, 3, size=n)
        K = (label[:, None] == label[None, :]).astype(float)
    else:
        F = rng.normal(size=(n, n + 2 if kind == "full" else min(3, n)))
        K = F @ F.T
    sparse = draw.one("csr", "coo", "csc") if kind == "sparse" else ""
    if kind != "sparse" and draw.chance(0.1):
        sparse = "csr"
    note = kind
    if draw.chance(0.2):
        scale = draw.power(-12, 12)
        K, note = K * scale, f"{kind} x {scale:.1e}"
    container = "numpy"
    if not sparse:
        container = foreign if foreign != "no" else draw.weighted(numpy=85, list=15)
    dtype = "float64" if container == "list" else draw.weighted(float64=70, float32=30)
    K = np.ascontiguousarray(((K + K.T) / 2).astype(dtype))
    layout = draw.one("plain", "fortran", "readonly")
    return Variable((), container, False, layout, Kernel("Precomputed"), K, sparse, note)


# -------------------------------------------------------------------------------- kernels


def _kernel(draw, d, scale, nominal):
    """Return a kernel for d columns of numbers of this scale; None: the default."""
    if draw.chance(0.6 if nominal else 0.3):
        return None
    name = draw.weighted(
        Gaussian=40, Laplacian=16, Linear=9, Polynomial=9, Cosine=8, Delta=10, Function=9
    )
    if name in ("Gaussian", "Laplacian"):
        return Kernel(name, _sigma(draw, d, scale))
    if name == "Polynomial":
        gamma = draw.power(-1, 1) / min(max(scale, 1e-150), 1e150) ** 2
        return Kernel(
            name,
            degree=draw.between(1, 4),
            gamma=gamma,
            shift=draw.one(0.0, 1.0, draw.power(-2, 2)),
        )
    if name == "Function":
        length = scale * draw.power(-1, 1)
        return Kernel(name, length, single=draw.chance(0.3), bare=draw.chance(0.2))
    return Kernel(name)


def _sigma(draw, d, scale):
    kind = draw.weighted(number=40, columns=12, rule=45, other=3)
    if kind == "number":
        return scale * draw.power(-1.5, 1.5)
    if kind == "columns":
        d = d if draw.chance(0.93) else d + 1
        return tuple(scale * draw.power(-1, 1) for _ in range(d))
    if kind == "other":  # far from the points' own size
        return draw.power(-3, 3)
    name = draw.weighted(median=25, columns=12, standardized=12, scott=18, silverman=13, nearest=20)
    return Rule(name, draw.one(1, 3, 10))
