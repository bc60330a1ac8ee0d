"""Judge a case: run it in the package, compute it once more, compare."""

import contextlib
import math
import re
import resource
import signal
import traceback
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

import lorenyi as lr
from fuzz import oracle, rules
from fuzz.data import FOREIGN
from fuzz.kernels import Kernel, Rule
from fuzz.oracle import EPS, EPS32, Interval

SECONDS = 10.0
MEMORY = 3 * 2**30  # bytes that a case may add
NAMES = {2: ("x", "y"), 3: ("x", "y", "given")}
DEFAULT = Kernel("Gaussian", Rule("median"))


@dataclass(frozen=True)
class Outcome:
    """`right`, `refused` or `failed`; what failed in a few words, and at length."""

    status: str
    cause: str = ""
    detail: str = ""


class OutOfTime(BaseException):
    """A case took longer than it may."""


# ------------------------------------------------------------------------------ the package


def functional(case):
    return lr.Renyi(case.alpha, case.rank, case.solver)


def given_weights(case):
    w = case.weights
    if w is None or case.weights_as == "numpy":
        return w
    if case.weights_as == "list":
        return w.tolist()
    return pd.Series(w) if case.weights_as == "pandas" else w.astype(np.float32)


def arguments(case):
    """Return the arguments of the call: raw where nothing but data is given, else Grams."""
    w = given_weights(case)
    plain = all(_is_plain(argument) for argument in case.arguments)
    if plain:
        built = [[v.build() for v in a] for a in case.arguments]
        return [b[0] if len(b) == 1 else tuple(b) for b in built], {"weights": w}
    made = []
    for i, argument in enumerate(case.arguments):
        grams = [gram(v, w, f"argument {i}") for v in argument]
        made.append(grams[0] if len(grams) == 1 else tuple(grams))
    return made, {}


def _is_plain(argument):
    if any(v.kernel is not None for v in argument):
        return False
    return len(argument) == 1 or any(v.container not in ("list", "tuple") for v in argument)


def gram(variable, w, name="x"):
    kernel = None if variable.kernel is None else variable.kernel.build()
    return lr.gram(variable.build(), kernel, weights=w, name=name)


def call(case, entropy):
    """Call the measure as a user would."""
    values, options = arguments(case)
    measure = getattr(lr, case.measure)
    if case.measure.startswith("conditional"):
        return measure(*values[:-1], given=values[-1], entropy=entropy, **options)
    return measure(*values, entropy=entropy, **options)


# ------------------------------------------------------------------------------- the oracle


class Truth:
    """Entropies of all joints of a case's variables, as intervals."""

    def __init__(self, case):
        self.case = case
        w = np.ones(len(case)) if case.weights is None else case.weights
        w = w.astype(np.float32).astype(float) if case.weights_as == "float32" else w
        self.w, self.n = w, float(w.sum())
        self._matrices, self._spectra = {}, {}
        self.single = any(v.single for v in case.variables) or any(
            v.kernel is not None and v.kernel.single for v in case.variables
        )

    def value(self, strict):
        """Return the measure; strict: as well as the oracle knows it."""
        numbers = iter(range(len(self.case.variables)))
        sets = [frozenset(next(numbers) for _ in a) for a in self.case.arguments]
        return oracle.measure(self.case.measure, lambda s: self.entropy(s, strict), sets)

    def entropy(self, members, strict):
        """Return the interval of S of a joint."""
        values, frobenius, entry = self.spectrum(members)
        case, rows = self.case, len(values)
        eps = EPS if strict or not self.single else EPS32
        own = entry[0] if strict else entry[1]
        delta = own * frobenius + eps * (10 + math.sqrt(rows)) * values[0]
        if not strict:
            delta += rules.solver_delta(case, rows, eps)
        if entry[2]:  # labels alone: eigenvalues are frequencies
            delta = 8 * eps * values
        low, high = oracle.entropy(values, self.n, case.alpha, case.rank, delta, eps)
        floor = 4 * EPS32 if self.single else rules.FLOOR
        interval = Interval(low, high).widened(floor * max(1.0, abs(high)))
        return interval if strict else interval.widened(rules.allowance(case) or 0.0)

    def spectrum(self, members):
        """Return eigenvalues, |A|_F, and the entries' rounding: here, fair, and if all labels."""
        if members not in self._spectra:
            parts = [self.matrix(i) for i in members]
            own, fair = sum(p[1] for p in parts), sum(p[2] for p in parts)
            labels = all(p[3] is not None for p in parts)
            if labels:
                codes = np.stack([p[3] for p in parts], axis=1)
                group = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
                mass = np.bincount(group, weights=self.w / self.w.sum())
                values = np.sort(mass[mass > 0])[::-1]
                self._spectra[members] = values, 1.0, (own, fair, True)
            else:
                A = oracle.weighted(np.prod([p[0] for p in parts], axis=0), self.w)
                values = oracle.eigenvalues(A)
                self._spectra[members] = values, float(np.linalg.norm(A)), (own, fair, False)
        return self._spectra[members]

    def matrix(self, i):
        """Return a variable's matrix of unit diagonal, its rounding, and labels if it has."""
        if i not in self._matrices:
            self._matrices[i] = self._matrix(self.case.variables[i])
        return self._matrices[i]

    def _matrix(self, v):
        if v.matrix is not None:
            K = oracle.unit_diagonal(v.matrix.astype(np.float64))
            return K, 8 * EPS, rules.entry_rounding(v, None, self._eps(v)), None
        kernel = v.kernel
        if (kernel is None and v.nominal) or (kernel is not None and kernel.name == "Delta"):
            return oracle.equality(v.codes), 0.0, 0.0, v.codes
        used, X = kernel or DEFAULT, v.numbers
        sigma = self._sigma(v, used, X)
        K = used.matrix(X, sigma)
        if kernel is None and v.symbols is not None:
            rows = np.unique(v.symbols, axis=0, return_inverse=True)[1].reshape(-1)
            K = K * oracle.equality(rows)
        eps = self._eps(v)
        known = replace(v, kernel=used)
        # A function that rounds to float32 is not known any better than that.
        here = EPS32 if used.single else EPS
        own = (8 + X.shape[1]) * here * (used.degree if used.name == "Polynomial" else 1)
        fair = rules.entry_rounding(known, sigma, eps)
        rounding = rules.bandwidth_rounding(used.sigma)
        return K, own + rounding, fair + rounding, None

    def reach(self, v):
        """Return the largest distance of a point from the others, in bandwidths."""
        used = v.kernel or DEFAULT
        nominal = v.matrix is not None or (v.kernel is None and v.nominal)
        if nominal or used.name not in ("Gaussian", "Laplacian"):
            return 0.0
        return rules.largest_norm(v.numbers, self._sigma(v, used, v.numbers))

    def _eps(self, v):
        return EPS32 if v.single else EPS

    def _sigma(self, v, kernel, X):
        rule = kernel.sigma
        if not isinstance(rule, Rule):
            return rule
        free = rule.samples(self.w) or rule.vague(self.w)
        coarse = v.container in FOREIGN and rule.name == "nearest"  # from squares, that cancel
        if not free and not coarse:
            return rule.of(X, self.w)
        found = settled(gram(v, given_weights(self.case)))
        if free and rule.name == "median" and not _plausible(found, X, self.w):
            raise ValueError(f"{rule} of a sample gives a bandwidth that is not plausible")
        if coarse and not free and not _near(found, rule.of(X, self.w), X, self._eps(v)):
            raise ValueError("Nearest of a tensor gives a bandwidth that is not near the true one")
        return np.asarray(found, dtype=float)


def settled(A):
    """Return the bandwidth that a Gram was made with."""
    sigmas = [getattr(factor.kernel, "sigma", None) for factor in A.factors]
    return next(s for s in sigmas if s is not None)


def _near(sigma, exact, X, eps):
    """Tell whether a mean distance is right up to what cancels in squares of the coordinates."""
    reach = float(np.max(np.abs(X - X.mean(axis=0)))) * math.sqrt(X.shape[1])
    lost = 30 * math.sqrt(eps) * reach
    return abs(sigma - exact) <= 30 * math.sqrt(EPS32) * exact + lost or exact < lost


def _plausible(sigma, X, w):
    """Tell whether the median of a sample lies among the middle distances of all."""
    X, w = X[w > 0], w[w > 0]
    if w.min() < 0.02 * w.sum():  # a sample by weight may not have seen that row
        return True
    difference, unit = oracle.differences(X)
    i, j = np.triu_indices(len(X), 1)
    distance, pairs = oracle.lengths(difference)[i, j] * unit, (w[i] / w.sum()) * w[j]
    order = np.argsort(distance)
    order = order[distance[order] > 0]
    if not len(order):
        return sigma == 1.0
    share = np.cumsum(pairs[order]) / pairs[order].sum()
    low, high = (distance[order][np.searchsorted(share, q)] for q in (0.3, 0.7))
    return low * (1 - 1e-6) <= sigma <= high * (1 + 1e-6)


# ---------------------------------------------------------------------------------- judging


def judge(case, seconds=SECONDS):
    """Return the outcome of one case."""
    try:
        with limits(seconds):
            return _judge(case)
    except OutOfTime:
        return Outcome("failed", "out of time", f"more than {seconds:g} s")


def _judge(case):
    reasons = rules.refusals(case)
    answers, caught = [], []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answers.append(call(case, functional(case)))
            if case.certified:
                answers.append(call(case, functional(case).certified))
    except Exception as error:
        return _refused(case, error, reasons)
    if unexpected := [w for w in caught if not rules.documented(w)]:
        w = unexpected[0]
        where = f"{w.filename.split('/')[-1]}:{w.lineno}"
        return Outcome("failed", f"warning: {w.message} at {where}"[:110], str(w.message))
    if must := [r for r in reasons if r.must]:
        return Outcome("failed", f"answered, though it must say {must[0].pattern!r}", f"{answers}")
    return _compared(case, answers, caught)


def _refused(case, error, reasons):
    said = str(error)
    for reason in reasons:
        if isinstance(error, reason.error) and _matches(reason.pattern, said):
            return Outcome("refused", reason.pattern, said)
    where = _innermost(error)
    kind = type(error).__name__
    cause = f"{kind} at {where}: {_anonymous(said)}"[:110]
    return Outcome("failed", cause, f"{kind}: {said}\n    at {where}")


def _matches(pattern, said):
    return re.search(pattern, said) is not None


def _innermost(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/lorenyi/" in f.filename] or frames
    last = own[-1]
    return f"{last.filename.split('/lorenyi/')[-1]}:{last.lineno} {last.name}"


def _anonymous(said):
    """Leave the numbers out, so that like messages are alike."""
    return re.sub(r"-?\d[\d.e+-]*", "#", said)


def _compared(case, answers, caught):
    if getattr(answers[0], "shape", ()) != ():
        return Outcome("failed", f"shape {tuple(answers[0].shape)}, not a number", repr(answers))
    value = float(answers[0])
    if not math.isfinite(value):
        return Outcome("failed", "not finite", repr(value))
    try:
        truth = Truth(case)
        fair = truth.value(strict=False)
    except Exception as error:
        return Outcome("failed", f"oracle: {error}"[:110], traceback.format_exc())
    if problem := _wrong_value(case, value, fair, truth, caught):
        return problem
    if case.certified:
        return _wrong_interval(case, value, answers[1], truth, fair) or Outcome("right")
    return Outcome("right")


def _wrong_value(case, value, fair, truth, caught):
    if rules.allowance(case) is not None:
        slack = terms(case) * rules.stated_width(caught)
        if value not in fair.widened(slack):
            kind = type(case.solver).__name__
            return Outcome("failed", f"value, {kind}", f"{value!r} is not in {fair}")
    top = {"vendi_score": truth.n, "entropy": math.log2(truth.n)}
    top["joint_entropy"] = top["entropy"]
    if case.measure in top:
        low = 1.0 if case.measure == "vendi_score" else 0.0
        slack = 1e-4 if truth.single or not rules.complete(case) else 1e-9
        if not low - slack <= value <= top[case.measure] * (1 + slack) + slack:
            return Outcome("failed", "outside 0..log2 n", f"{value!r}, n = {truth.n:g}")
    return None


def terms(case):
    """Return how many entropies a measure adds up, at most."""
    return 2 ** len(case.arguments)


def _wrong_interval(case, value, estimate, truth, fair):
    strict = fair if case.alpha == 0 else truth.value(strict=True)  # no proof of a rank
    if not isinstance(estimate, lr.Estimate):
        return Outcome("failed", "certified gives no Estimate", repr(estimate))
    low, high = estimate.low, estimate.high
    if not (math.isfinite(low) and math.isfinite(high) and low <= float(estimate) <= high):
        return Outcome(
            "failed", "certified: no interval", f"{low!r}, {float(estimate)!r}, {high!r}"
        )
    cancels = case.alpha < 1 and not (low > fair.high or high < fair.low)
    if (low > strict.high or high < strict.low) and not cancels:  # the oracle's own rounding
        kind = type(case.solver).__name__
        rounding = "" if low > fair.high or high < fair.low else " by rounding"
        shown = f"[{low!r}, {high!r}] misses {strict} (fair: {fair})"
        return Outcome("failed", f"certificate misses{rounding}, {kind}", shown)
    same = case.measure in ("entropy", "joint_entropy")
    if same and float(estimate) != value:
        return Outcome("failed", "certified value differs", f"{float(estimate)!r} != {value!r}")
    return _too_wide(case, estimate, truth)


def _too_wide(case, estimate, truth):
    if case.alpha < 1 or truth.single or case.measure in ("vendi_score",) or "norm" in case.measure:
        return None
    if not isinstance(case.solver, (lr.Auto, lr.Exact)):
        return None
    most = 1e-6 if rules.complete(case) else max(case.solver.tol, 1e-6)
    most += 1e4 * EPS * max(truth.reach(v) for v in case.variables)  # of rounded coordinates
    if estimate.width > most * terms(case):
        return Outcome("failed", "certified: too wide", f"{estimate.width:.3g} bits wide")
    return None


# ------------------------------------------------------------------------------------ limits


@contextlib.contextmanager
def limits(seconds, memory=MEMORY):
    """Raise OutOfTime after so many seconds, MemoryError beyond so many bytes.

    Seconds of the processor, which a busy machine does not take away; of the clock, many more.
    """

    def late(*_):
        raise OutOfTime

    signals = (signal.SIGPROF, signal.SIGALRM)
    before = [signal.signal(number, late) for number in signals]
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if (used := _address_space()) is not None:
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space():
    """Return the bytes of memory that are mapped, where the system tells."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None
