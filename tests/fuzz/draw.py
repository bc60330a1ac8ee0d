"""Cases drawn at random: number i of seed s is a function of (s, i) alone."""

import math
from dataclasses import dataclass, replace

import numpy as np

import lorenyi as lr
from fuzz.data import FOREIGN, INTEGERS, Column, Variable
from fuzz.kernels import Kernel, Rule

ORDERS = (0, 0.01, 0.3, 0.5, 0.999, 1, 1.01, 1.5, 2, 3, 10, 50, math.inf)
ARGUMENTS = {  # how many variables a measure takes, at least and at most
    "entropy": (1, 1),
    "vendi_score": (1, 1),
    "joint_entropy": (1, 4),
    "conditional_entropy": (2, 2),
    "mutual_information": (2, 2),
    "normalized_mutual_information": (2, 2),
    "conditional_mutual_information": (3, 3),
    "total_correlation": (2, 4),
    "dual_total_correlation": (2, 4),
    "interaction_information": (2, 3),
}
WHOLE = (lr.Auto, lr.Exact, lr.Lanczos, lr.BlockLanczos, lr.PivotedCholesky)  # rank=None will do
BROKEN = ("nan", "infinity", "negative weight", "short weights", "short variable", "complex")


@dataclass(frozen=True)
class Case:
    """One call: a measure of variables, by a functional."""

    measure: str
    arguments: tuple  # each a tuple of variables: their joint is the argument
    weights: object  # array or None
    weights_as: str
    alpha: float
    rank: int | None
    solver: object
    certified: bool
    broken: str = ""

    @property
    def variables(self):
        return [v for argument in self.arguments for v in argument]

    def __len__(self):
        return len(self.variables[0])

    def take(self, index):
        """Return the same case with fewer rows."""
        arguments = tuple(tuple(v.take(index) for v in a) for a in self.arguments)
        weights = None if self.weights is None else self.weights[index]
        return replace(self, arguments=arguments, weights=weights)

    def __str__(self):
        shown = "; ".join(" * ".join(f"({v})" for v in a) for a in self.arguments)
        rank = "" if self.rank is None else f", rank={self.rank}"
        kind = ".certified" if self.certified else ""
        lines = [
            f"{self.measure}, {len(self)} rows: {shown}",
            f"  Renyi({self.alpha:g}{rank}, {self.solver!r}){kind}",
        ]
        if self.weights is not None:
            w = self.weights
            kept = int(np.sum(w > 0))
            lines.append(f"  weights: {self.weights_as}, sum {w.sum():.6g}, {kept} not zero")
        return "\n".join(lines + [f"  made wrong: {self.broken}"] * bool(self.broken))


class Draw:
    """Choices from one generator."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])

    def chance(self, p):
        return bool(self.rng.random() < p)

    def one(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def power(self, low, high):
        return float(10.0 ** self.rng.uniform(low, high))

    def weighted(self, **shares):
        names = list(shares)
        p = np.array(list(shares.values()), dtype=float)
        return names[int(self.rng.choice(len(names), p=p / p.sum()))]


def case(seed, number):
    """Return case `number` of `seed`."""
    draw = Draw(seed, number)
    n = _rows(draw)
    measure = draw.one(*ARGUMENTS) if n <= 300 else draw.one("entropy", "conditional_entropy")
    count = draw.between(*ARGUMENTS[measure])
    foreign = draw.weighted(no=8, torch=1, strict=0.5)
    arguments = [[variable(draw, n, foreign)] for _ in range(count)]
    if draw.chance(0.1) and n <= 300:
        draw.one(*arguments).append(variable(draw, n, foreign))
    if draw.chance(0.15) and count > 1:  # one variable is a function of another
        arguments[-1] = [replace(arguments[0][0])]
    weights, weights_as = _weights(draw, n)
    alpha = draw.one(*ORDERS)
    total = float(n if weights is None else weights.sum())
    rank = _rank(draw, n, total)
    solver = _solver(draw, n, rank)
    if rank is None and not isinstance(solver, WHOLE) and total > 2 and draw.chance(0.9):
        rank = draw.between(1, min(n, int(total)) - 1)
        solver = _solver(draw, n, rank, type(solver).__name__)
    bounded = isinstance(solver, (lr.Lanczos, lr.BlockLanczos, lr.PivotedCholesky))
    arguments = tuple(tuple(a) for a in arguments)
    certified = draw.chance(0.8 if bounded else 0.35 if isinstance(solver, WHOLE) else 0.05)
    made = Case(measure, arguments, weights, weights_as, alpha, rank, solver, certified)
    return _broken(draw, made) if draw.chance(0.03) else made


def _rows(draw):
    size = draw.weighted(tiny=20, small=55, usual=22, large=1.5, larger=0.5)
    spans = {
        "tiny": (2, 6),
        "small": (7, 45),
        "usual": (46, 150),
        "large": (290, 500),
        "larger": (900, 1500),
    }
    return draw.between(*spans[size])


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
    kind = draw.weighted(numbers=50, labels=14, text=10, frame=14, matrix=8, bool=4)
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
    flat = draw.chance(0.7)
    columns = [Column(draw.rng.random(n) < 0.4, "bool") for _ in range(1 if flat else 2)]
    container = foreign if foreign != "no" else draw.one("numpy", "list")
    return Variable(tuple(columns), container, flat, kernel=_kernel(draw, None, 1.0, True))


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
    layout = draw.weighted(plain=60, reversed=8, strided=8, fortran=8, readonly=8, deep=4)
    if layout == "deep" and (d % 2 or flat):
        layout = "plain"
    columns = tuple(Column(column, "number") for column in cast.T.copy())
    kernel = _kernel(draw, cast.astype(np.float64), scale, False)
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
    low, high = 0, draw.one(1, 2, 5, 20)
    X = draw.rng.integers(low, high + 1, size=(n, d)).astype(dtype)
    note = ""
    if draw.chance(0.15):  # at the end of the type's range
        X, note = info.max - X, "near the largest"
        X = X.astype(dtype)
    flat = d == 1 and draw.chance(0.8)
    kernel = _kernel(draw, X.astype(np.float64), 1.0, True)
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
    numbers = [c for c in columns if c.kind == "number"]
    X = np.stack([np.asarray(c.values, dtype=float) for c in numbers], axis=1) if numbers else None
    kernel = None
    if draw.chance(0.4) and len(numbers) == len(columns):
        kernel = _kernel(draw, X, max(scales), False)
    elif draw.chance(0.2):
        kernel = Kernel("Delta")
    elif draw.chance(0.03):
        kernel = Kernel("Gaussian", 1.0)
    note = " | ".join(note for note in notes if note)
    return Variable(columns, library, flat, "plain", kernel, note=note)


def _frame_column(draw, n, library):
    kind = draw.weighted(float64=30, float32=20, integer=15, category=12, string=12, bool=6)
    if kind in ("float64", "float32"):
        # Squares of one column beside those of another: not so far apart that one is nothing.
        X, scale, note = points(draw, n, 1, kind == "float32", 60)
        nullable = library == "pandas" and draw.chance(0.3)
        dtype = kind.capitalize() if nullable else ""
        return Column(X[:, 0].astype(kind), "number", dtype), scale, note
    if kind == "integer":
        dtype = draw.one("int8", "int64", "uint8", "int32")
        nullable = library == "pandas" and draw.chance(0.3)
        values = draw.rng.integers(0, draw.one(2, 5, 100), size=n).astype(dtype)
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


def _kernel(draw, X, scale, nominal):
    """Return a kernel for these numbers (None: the default, or any numbers of size one)."""
    if draw.chance(0.6 if nominal else 0.3):
        return None
    name = draw.weighted(
        Gaussian=40, Laplacian=16, Linear=9, Polynomial=9, Cosine=8, Delta=10, Function=9
    )
    if name in ("Gaussian", "Laplacian"):
        return Kernel(name, _sigma(draw, 1 if X is None else X.shape[1], scale))
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
    name = draw.weighted(median=30, columns=15, scott=20, silverman=15, nearest=20)
    return Rule(name, draw.one(1, 3, 10))


# ------------------------------------------------------------- weights, rank, solver, errors


def _weights(draw, n):
    kind = draw.weighted(none=58, integers=14, above=10, below=1, huge=6, equal=6, single=1, tiny=2)
    rng = draw.rng
    if kind == "none":
        return None, ""
    w = rng.integers(0, 6, size=n).astype(float)
    if kind == "above":
        w = rng.random(n) * draw.one(4.0, 9.0) + draw.one(0.3, 1.0)
    elif kind == "below":
        w = rng.random(n) * draw.one(0.3, 0.9)
    elif kind == "huge":
        w = np.floor(rng.random(n) ** draw.one(1, 8) * 1e9 / n)
    elif kind == "equal":
        w = np.full(n, draw.one(1.0, 2.0, 3.7, 1.0 + 1e-9, 1e6))
    elif kind == "single":
        w = np.zeros(n)
        w[draw.between(0, n - 1)] = 5.0
    elif kind == "tiny":
        w = w + 1.0
        w[draw.between(0, n - 1)] = draw.power(-6, -3)  # less decides ties
    if not w.any():
        w[0] = 2.0
    return w, draw.weighted(numpy=6, list=1, float32=1, pandas=1)


def _rank(draw, n, total):
    if draw.chance(0.55):
        return None
    most = max(int(min(total - 1, n - 1)), 1)
    kind = draw.weighted(one=15, two=15, any=50, last=12, beyond=4, above=4)
    if kind == "above":  # more than there are rows, where weights leave room for it
        return n + 2
    beyond = int(1.001 * min(total, 10**9)) + draw.between(0, 2)
    choice = {"one": 1, "two": 2, "last": most, "beyond": max(beyond, 1)}
    return choice.get(kind) or draw.between(1, most)


def _solver(draw, n, rank, name=None):
    seed = draw.between(0, 3)
    name = name or draw.weighted(
        Auto=52,
        Exact=14,
        Lanczos=8,
        BlockLanczos=6,
        PivotedCholesky=6,
        SubspaceIteration=5,
        GaussianProjection=2.5,
        HadamardProjection=2.5,
        InputSparsity=2.5,
        SparseGraph=2.5,
    )
    size = draw.one(n, n + 5, draw.between(max(rank or 1, 1), max(rank or 1, n)), 3)
    if name == "Auto":
        tol = draw.one(None, None, 1e-2, 1e-6, 1e-9)
        return lr.Auto(seed=seed) if tol is None else lr.Auto(tol, seed=seed)
    if name == "Exact":
        return lr.Exact()
    if name == "Lanczos":
        tol = draw.one(None, None, 1e-8)
        if n > 300:  # vector by vector it is slow
            size, tol = min(size, max(rank or 1, 200)), None
        return lr.Lanczos(size, tol=tol, seed=seed)
    if name == "BlockLanczos":
        steps = draw.one(None, max(-(-size // 4), 1))
        steps = steps if n <= 300 or steps is None else min(steps, 50)
        block = 16 if steps is None else 4
        return lr.BlockLanczos(steps, block, single=draw.chance(0.5), seed=seed)
    if name == "PivotedCholesky":
        return lr.PivotedCholesky(draw.one(1e-8, 1e-3, 1e-13), draw.one(None, n, size), seed=seed)
    if name == "SubspaceIteration":
        return lr.SubspaceIteration(draw.one(1, 2, 5), draw.one(0, 10, n), seed)
    return getattr(lr, name)(size, seed=seed)


def _broken(draw, made):
    """Make one thing wrong, which must be refused."""
    how = draw.one(*BROKEN)
    target = made.arguments[-1][-1]
    plain = target.container == "numpy" and target.matrix is None
    number = plain and np.asarray(target.columns[0].values).dtype.kind == "f"
    if how in ("nan", "infinity", "complex") and not number:
        how = "short weights"
    n = len(made)
    if how in ("negative weight", "short weights"):
        w = np.ones(n) if made.weights is None else made.weights.copy()
        w = w[:-1] if how == "short weights" else np.append(w[:-1], -1.0)
        return replace(made, weights=w, weights_as="numpy", broken=how)
    if how == "short variable":
        if len(made.variables) < 2 or n < 3:
            return made
        other = target.take(np.arange(n - 1))
    else:
        values = np.asarray(target.columns[0].values).copy()
        values = values.astype(complex) if how == "complex" else values
        values[draw.between(0, n - 1)] = {"nan": np.nan, "infinity": np.inf}.get(how, 1j)
        first = Column(values, "number")
        other = replace(target, columns=(first, *target.columns[1:]))
    arguments = (*made.arguments[:-1], (*made.arguments[-1][:-1], other))
    return replace(made, arguments=arguments, broken=how)
