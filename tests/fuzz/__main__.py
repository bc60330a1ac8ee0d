"""Run cases: `python -m fuzz --cases 1000 --seed 0`, `--only 17`, `--seconds 600`."""

import argparse
import faulthandler
import sys
import time
from collections import Counter

from fuzz.check import SECONDS, judge
from fuzz.draw import case
from fuzz.shrink import shrunk

EVERY = 15.0  # seconds between two lines of progress
HANG = 12 * SECONDS  # seconds after which a case that cannot be interrupted ends the run


def main():
    options = _options()
    if options.only is not None:
        return _one(options)
    counts, causes = Counter(), {}
    start = told = time.monotonic()
    for number in range(options.start, options.start + options.cases):
        faulthandler.dump_traceback_later(HANG, exit=True)
        outcome = judge(case(options.seed, number))
        faulthandler.cancel_dump_traceback_later()
        counts[outcome.status] += 1
        if outcome.status == "failed":
            causes.setdefault(outcome.cause, []).append(number)
            _tell_failure(options.seed, number, outcome)
        now = time.monotonic()
        if now - told > EVERY:
            told = now
            _say(f"{counts.total()} cases in {now - start:.0f} s: {_shown(counts)}")
        if options.seconds is not None and now - start > options.seconds:
            break
    _summary(counts, causes, time.monotonic() - start)
    return 1 if counts["failed"] else 0


def _options():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first")
    parser.add_argument("--only", type=int, help="this case alone, made smaller if it fails")
    parser.add_argument("--seconds", type=float, help="stop after so many")
    return parser.parse_args()


def _one(options):
    made = case(options.seed, options.only)
    outcome = judge(made)
    _say(f"{made}\n{outcome.status}: {outcome.cause}\n  {outcome.detail}")
    if outcome.status == "failed":
        small = shrunk(made, outcome)
        _say(f"with fewer rows:\n{small}\n  {judge(small).detail}")
        for i, variable in enumerate(small.variables):
            _say(f"  variable {i}: {variable.build()!r}")
        _say(f"  weights: {small.weights!r}" if small.weights is not None else "")
    return 1 if outcome.status == "failed" else 0


def _tell_failure(seed, number, outcome):
    _say(f"FAILED case {number}: {outcome.cause}")
    _say(f"  {outcome.detail}")
    _say("  " + str(case(seed, number)).replace("\n", "\n  "))
    _say(f"  again: make fuzz SEED={seed} ONLY={number}")


def _summary(counts, causes, seconds):
    for cause, numbers in sorted(causes.items(), key=lambda item: -len(item[1])):
        shown = ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")
        _say(f"{len(numbers):5d} x {cause}: {shown}")
    _say(f"{counts.total()} cases in {seconds:.0f} s: {_shown(counts)}")


def _shown(counts):
    return ", ".join(f"{counts[status]} {status}" for status in ("right", "refused", "failed"))


def _say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
