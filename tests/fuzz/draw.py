"""Cases drawn at random: number i of seed s is a function of (s, i) alone."""

import math
from dataclasses import dataclass, replace

import numpy as np

import lorenyi as lr
from fuzz.data import Column
from fuzz.dice import Draw
from fuzz.variables import variable

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
FEW_TERMS = ("entropy", "conditional_entropy", "mutual_information")  # of many rows
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
    collision: object = None  # a CollisionEntropy, instead of Renyi's (which is of order 2 then)

    @property
    def functional(self):
        return self.collision or lr.Renyi(self.alpha, self.rank, self.solver)

    @property
    def frequencies(self):
        """The weights as the package sees them; ones where there are none."""
        if self.weights is None:
            return np.ones(len(self))
        given = np.float32 if self.weights_as == "float32" else np.float64
        return self.weights.astype(given).astype(np.float64)

    @property
    def variables(self):
        return [v for argument in self.arguments for v in argument]

    def __len__(self):
        return len(self.variables[0])

    def take(self, index):
        """Return the same case with other rows."""
        arguments = tuple(tuple(v.take(index) for v in a) for a in self.arguments)
        weights = None if self.weights is None else self.weights[index]
        return replace(self, arguments=arguments, weights=weights)

    def __str__(self):
        shown = "; ".join(" * ".join(f"({v})" for v in a) for a in self.arguments)
        rank = "" if self.rank is None else f", rank={self.rank}"
        kind = ".certified" if self.certified else ""
        entropy = f"Renyi({self.alpha:g}{rank}, {self.solver!r}){kind}"
        lines = [f"{self.measure}, {len(self)} rows: {shown}", f"  {self.collision or entropy}"]
        if self.weights is not None:
            w = self.weights
            kept = int(np.sum(w > 0))
            lines.append(f"  weights: {self.weights_as}, sum {w.sum():.6g}, {kept} not zero")
        return "\n".join(lines + [f"  made wrong: {self.broken}"] * bool(self.broken))


def case(seed, number):
    """Return case `number` of `seed`."""
    draw = Draw(seed, number)
    n = _rows(draw)
    measure = draw.one(*ARGUMENTS) if n <= 300 else draw.one(*FEW_TERMS)
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
    made = _collision(draw, made) if draw.chance(0.07) else made
    return _broken(draw, made) if draw.chance(0.03) else made


def _collision(draw, made):
    """Return the case of order 2 without pairs of equal points: all pairs, or some."""
    few = draw.chance(0.2) and len(made) >= 46
    pairs = draw.one(1, 2000, 100_000) if few else None
    entropy = lr.CollisionEntropy(pairs, draw.between(0, 3))
    return replace(made, alpha=2, rank=None, solver=lr.Exact(), certified=False, collision=entropy)


def _rows(draw):
    size = draw.weighted(tiny=20, small=55, usual=22, large=1.5, larger=0.7)
    spans = {
        "tiny": (2, 6),
        "small": (7, 45),
        "usual": (46, 150),
        "large": (290, 500),
        "larger": (900, 1600),
    }
    return draw.between(*spans[size])


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
        return lr.Auto(draw.one(None, None, None, 1e-2, 1e-6, 1e-9), seed=seed)
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
