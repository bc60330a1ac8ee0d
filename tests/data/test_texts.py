"""Text of a file is read as people write it: numbers, units, dates, gaps."""

import numpy as np
import pytest

from lorenyi.data.texts import parse

NUMBERS = {
    "percent": (["19.2%", "3 %", "n/a"], [19.2, 3.0, np.nan], "%"),
    "euro after": (["1,020.33 €", "7 €"], [1020.33, 7.0], "€"),
    "comma for a point": (["1.020,33 €", "7,5 €"], [1020.33, 7.5], "€"),
    "dollar, accounting": (["$1,234.50", "($3.00)", "-$5", "12"], [1234.5, -3.0, -5.0, 12.0], "$"),
    "code of a currency": (["EUR 5", "EUR 1 200"], [5.0, 1200.0], "EUR"),
    "spaces between groups": (["1 234,5", "2\u00a0000"], [1234.5, 2000.0], ""),
    "Swiss": (["1'234.50", "12"], [1234.5, 12.0], ""),
    "Indian": (["1,00,000", "5,000"], [1e5, 5000.0], ""),
    "unit": (["12 kg", "13kg", "?"], [12.0, 13.0, np.nan], "kg"),
    "speed": (["12 km/h", "3.5 km/h"], [12.0, 3.5], "km/h"),
    "minus sign": (["\N{MINUS SIGN}3", "1e-3"], [-3.0, 1e-3], ""),
    "infinite": (["-inf", "2"], [-np.inf, 2.0], ""),
    "gaps of all kinds": (["1", "NA", "null", "-", "", "#N/A"], [1.0] + [np.nan] * 5, ""),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_read(case):
    words, values, unit = NUMBERS[case]
    found = parse(words)
    assert found.kind == "number"
    np.testing.assert_allclose(found.values, values)
    assert found.form == unit
    assert not found.wrong.any()


WORDS = {
    "colors": ["red", "green"],
    "codes": ["007", "012"],
    "ordinals": ["1st", "2nd", "3rd"],
    "ranges": ["18-25", "26-35"],
    "two currencies": ["€5", "$3"],
    "shares beside plain numbers": ["5%", "3"],
    "versions": ["1.2.3", "1.2.4"],
    "mixed codes": ["a1", "b2", "3"],
    "nothing": ["", "NA"],
}


@pytest.mark.parametrize("case", WORDS)
def test_other_words_stay_words(case):
    assert parse(WORDS[case]) is None


DATES = {
    "ISO": ["1970-01-02", "1969-12-31"],
    "ISO with a clock": ["1970-01-02T00:00:00Z", "1969-12-31 00:00"],
    "day first": ["02.01.1970", "31.12.1969"],
    "day first, by the second": ["02/01/1970", "31/12/1969"],
    "month first": ["01/02/1970", "12/31/1969"],
    "month by name": ["Jan 2, 1970", "Dec 31, 1969"],
    "day and name": ["02-Jan-1970", "31-Dec-1969"],
    "with a clock": ["01/02/1970 12:00 AM", "12/31/1969 12:00 AM"],
}


@pytest.mark.parametrize("case", DATES)
def test_dates_are_days(case):
    found = parse(DATES[case])
    assert found.kind == "time"
    assert found.values.tolist() == [1.0, -1.0]
    assert not found.doubt


def test_what_may_be_read_in_two_ways_is_doubted():
    found = parse(["01/02/2020", "03/04/2020"])
    assert found.form == "%m/%d/%Y"
    assert found.doubt == "%d/%m/%Y reads it too"
    other = parse(["01/02/2020", "03/04/2020"], "%d/%m/%Y")
    assert np.all(other.values != found.values)
    assert not other.doubt
    found = parse(["1,234", "2,345"])
    assert found.values.tolist() == [1234.0, 2345.0]
    assert found.doubt == "1,234 is read as 1234, not 1.234"


def test_few_mistakes_among_numbers_are_marked():
    words = [str(i) for i in range(9)]
    found = parse([*words, "oops"])
    assert np.flatnonzero(found.wrong).tolist() == [9]
    assert np.isnan(found.values[9])
    assert parse([*words[:3], "oops"]) is None
