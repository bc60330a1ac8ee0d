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

import lorenyi as lr
from fuzz import rules
from fuzz.calls import call
from fuzz.oracle import EPS
from fuzz.truth import Truth

SECONDS = 10.0
MEMORY = 3 * 2**30  # bytes that a case may add


@dataclass(frozen=True)
class Outcome:
    """`right`, `refused` or `failed`; what failed in a few words, and at length."""

    status: str
    cause: str = ""
    detail: str = ""


class OutOfTime(BaseException):
    """A case took longer than it may."""


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
            answers.append(call(case, case.functional))
            if case.certified:
                answers.append(call(case, case.functional.certified))
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
    for answer in answers:
        if not isinstance(answer, lr.Estimate):
            return Outcome("failed", f"{type(answer).__name__}, not an Estimate", repr(answer))
        if not math.isfinite(answer):
            return Outcome("failed", "not finite", repr(answer))
    try:
        truth = Truth(case)
        fair = truth.value(strict=False)
        errors = truth.errors()
    except Exception as error:
        return Outcome("failed", f"oracle: {error}"[:110], traceback.format_exc())
    answer = answers[0]
    problem = _wrong_value(case, answer, fair, truth)
    problem = problem or _wrong_computing_error(case, answer, caught)
    problem = problem or _wrong_standard_error(case, answer, errors, truth, fair)
    problem = problem or _wrong_arithmetic(answer, answers[-1])
    problem = problem or _wrong_repetition(case, answer, fair, truth)
    if case.certified:
        problem = problem or _wrong_interval(case, answer, answers[1], truth, fair)
    return problem or Outcome("right")


def _wrong_value(case, answer, fair, truth):
    value, slack = float(answer), rules.allowance(case, answer)
    if slack is not None and value not in fair.widened(slack):
        kind = type(case.collision or case.solver).__name__
        shown = f"{value!r} is not in {fair}, computed to {answer.computing_error}"
        return Outcome("failed", f"value, {kind}", shown)
    if case.collision is not None:
        return None
    top = {"vendi_score": truth.n, "entropy": math.log2(truth.n)}
    top["joint_entropy"] = top["entropy"]
    if case.measure in top:
        low = 1.0 if case.measure == "vendi_score" else 0.0
        slack = 1e-4 if truth.single or not rules.complete(case) else 1e-9
        if not low - slack <= value <= top[case.measure] * (1 + slack) + slack:
            return Outcome("failed", "outside 0..log2 n", f"{value!r}, n = {truth.n:g}")
    return None


def _in_bits(case):
    return case.measure != "vendi_score" and "norm" not in case.measure


def _wrong_computing_error(case, answer, caught):
    """`Auto` says how far it may be off, and that is no more than was asked for."""
    said = answer.computing_error
    if not isinstance(case.solver, lr.Auto) or said is None or not _in_bits(case):
        return None
    if not (said <= rules.asked(case) or rules.admits(caught)):
        return Outcome("failed", "computing error above the tolerance", f"{said:.3g} bits")
    return None


def _wrong_standard_error(case, answer, errors, truth, fair):
    found = answer.standard_error
    if case.alpha == 0:
        return None
    if not (math.isfinite(found) and found >= 0):
        return Outcome("failed", "no standard error", repr(found))
    linear = _in_bits(case) or rules.allowance(case, answer) == 0  # of the value found
    if not _in_bits(case) and fair.high - fair.low > 1e-6 * abs(fair.high):
        linear = False  # which rounding moves: so it does the slopes
    if errors is not None and linear:
        exact, size = errors
        if abs(found - exact) > (1e-3 if truth.single else 1e-6) * size + 10 * rules.FLOOR:
            return Outcome("failed", "standard error", f"{found:.9g}, not {exact:.9g}")
    return None


def _wrong_arithmetic(answer, other):
    """A difference of measures keeps kernels and errors; what is on the same rows cancels."""
    half = answer - 0.5 * other
    same = set(half.about) == set(answer.about) and answer.about and half.unit == answer.unit
    if not same:
        return Outcome("failed", "difference: about or unit", repr(half))
    error, whole = half.standard_error, answer.standard_error
    if float(answer) == 0 and whole == 0:  # normalized by no entropy; bounds tell no more
        return None
    if not (math.isnan(whole) and math.isnan(error)) and abs(error - whole / 2) > 1e-6 * whole:
        return Outcome("failed", "difference: standard error", f"{error!r}, half of {whole!r}?")
    return None


def _wrong_repetition(case, answer, fair, truth):
    """Weights that are integers are rows given as often."""
    w = truth.w
    if case.weights is None or truth.n > 300 or not np.array_equal(w, np.round(w)):
        return None
    drawn = case.collision is not None and case.collision.pairs is not None
    if drawn or not isinstance(case.solver, (lr.Auto, lr.Exact)) or not truth.smooth:
        return None
    rows = np.repeat(np.arange(len(case)), w.astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = replace(case, weights=None).take(rows)
        repeated = call(again, case.functional)
    if case.alpha < 1:  # zeros that are rounded count: there are more of them
        fair = Truth(again).value(strict=False)
    if float(repeated) not in fair:
        return Outcome("failed", "repeated rows: value", f"{repeated!r} is not in {fair}")
    shaky = case.alpha < 1 or not _in_bits(case)
    if shaky and fair.high - fair.low > 0.01 * abs(fair.high):
        return None  # rounding makes so much of the value
    a, b = answer.standard_error, repeated.standard_error
    if not (math.isnan(a) and math.isnan(b)) and abs(a - b) > 0.03 * b + 1e-6:
        return Outcome("failed", "repeated rows: standard error", f"{b!r}, with weights {a!r}")
    return None


def terms(case):
    """Return how many entropies a measure adds up, at most."""
    return 2 ** len(case.arguments)


def _wrong_interval(case, answer, estimate, truth, fair):
    strict = fair if case.alpha == 0 else truth.value(strict=True)  # no proof of a rank
    if estimate.bounds is None:
        return Outcome("failed", "certified: no bounds", repr(estimate))
    low, high = estimate.bounds
    if not (math.isfinite(low) and math.isfinite(high) and low <= float(estimate) <= high):
        shown = f"{low!r}, {float(estimate)!r}, {high!r}"
        return Outcome("failed", "certified: no interval", shown)
    cancels = case.alpha < 1 and not (low > fair.high or high < fair.low)
    if (low > strict.high or high < strict.low) and not cancels:  # the oracle's own rounding
        kind = type(case.solver).__name__
        rounding = "" if low > fair.high or high < fair.low else " by rounding"
        shown = f"[{low!r}, {high!r}] misses {strict} (fair: {fair})"
        return Outcome("failed", f"certificate misses{rounding}, {kind}", shown)
    same = case.measure in ("entropy", "joint_entropy") and rules.complete(case, proof=True)
    if same and float(estimate) != float(answer):
        shown = f"{float(estimate)!r} != {float(answer)!r}"
        return Outcome("failed", "certified value differs", shown)
    return _too_wide(case, estimate, truth)


def _too_wide(case, estimate, truth):
    if case.alpha < 1 or truth.single or not _in_bits(case):
        return None
    if not isinstance(case.solver, (lr.Auto, lr.Exact)):
        return None
    whole = rules.complete(case, proof=True)
    most = 1e-6 if whole else max(rules.asked(case), 1e-6)
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
