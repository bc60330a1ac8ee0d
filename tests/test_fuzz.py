"""A few hundred of the cases that `make fuzz` draws: answered as the naive definition has it."""

import pytest
from fuzz.check import judge
from fuzz.draw import case

SEED, CHUNKS, SIZE = 0, 8, 40


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_cases_drawn_at_random_are_answered_right_or_refused_for_a_reason(chunk):
    failed = []
    for number in range(chunk * SIZE, (chunk + 1) * SIZE):
        outcome = judge(case(SEED, number))
        if outcome.status == "failed":
            failed.append(f"make fuzz SEED={SEED} ONLY={number}: {outcome.cause}")
    assert not failed, "\n".join(failed)
