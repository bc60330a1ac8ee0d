"""Numbers, dates and missing values in text columns, for file formats without types.

- Numbers may have signs, exponents, groups of digits (1,020.33 or 1.020,33 or 1 020), one currency
  for the column, a percent sign, or one unit such as kg. Digits with leading zeros are codes.
- Dates and times of one form; whether the day or the month comes first is decided by the column.
  A time of the day is a number of hours.
- Words such as NA, null or ? are missing values.

A column is numbers, or dates, if at least four of five of its words are. The others are marked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Literal

import numpy as np

GAPS = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "<na>", "?", "-", "--", ".", "#value!")
)
MOSTLY = 0.8  # share of readable words above which the others are treated as errors
LOOK = 200  # distinct words that determine the format of a column
CURRENCIES = "$€£¥₩₹₽₺₪₫₴₦฿"
SPACES = " \u00a0\u202f\u2009"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)

QUOTES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_GROUPED = rf"\d{{1,3}}(?:[{SPACES}{QUOTES}]\d{{3}})+"
_POINT = (
    rf"(?:(?:\d{{1,3}}(?:,\d{{2,3}})*,\d{{3}}|{_GROUPED}|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
)
_COMMA = rf"(?:(?:\d{{1,3}}(?:\.\d{{3}})+|{_GROUPED}|\d+)(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?"
_BEFORE = rf"(?P<before>[A-Z]{{0,3}}[{re.escape(CURRENCIES)}]|[A-Z]{{3}})?"
_UNIT = r"[^\W\d_]{1,6}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?"
_AFTER = rf"(?P<after>[%‰{re.escape(CURRENCIES)}]|°[CF]?|{_UNIT})?"
_FORMS = {
    decimal: re.compile(
        rf"(?P<sign>[-+−]?)\s*{_BEFORE}\s*(?P<inner>[-+−]?)(?P<number>{number})\s*{_AFTER}"
    )
    for decimal, number in ((".", _POINT), (",", _COMMA))
}
_CODE = re.compile(r"0\d+")
_INFINITE = re.compile(r"[-+]?inf(?:inity)?", re.IGNORECASE)

_DAYS = [
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y"),
    *("%d-%m-%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y"),
    *("%d-%b-%y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
]
_CLOCKS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p"]
# The first that fits is used: the month before the day, as in US English.
TIME_FORMS = [
    *("ISO", *_DAYS, *(f"{day} {clock}" for day, clock in product(_DAYS, _CLOCKS))),
    *("%Y-%m", "%Y/%m", "%b %Y", "%B %Y", *_CLOCKS),
]


@dataclass(frozen=True, eq=False)
class Parsed:
    """A column of text, read as numbers or as times.

    Parameters
    ----------
    kind : {"number", "time"}
        What the words are.
    values : array of n
        Numbers, or days since 1970; NaN where there is none.
    wrong : array of bool
        Words that are neither that nor missing.
    form : str
        A unit such as "%" or "€", or the form of the dates.
    doubt : str
        The other possible reading, if the words are ambiguous.
    """

    kind: Literal["number", "time"]
    values: np.ndarray
    wrong: np.ndarray
    form: str = ""
    doubt: str = ""


def is_gap(words: np.ndarray) -> np.ndarray:
    """Mark the words that denote a missing value."""
    return np.fromiter((word.strip().lower() in GAPS for word in words), bool, len(words))


def parse(words: Sequence[str], form: str | None = None, *, times: bool = True) -> Parsed | None:
    """Read text as numbers or times if it holds them; None: it is words.

    Parameters
    ----------
    words : sequence of str
        A column; empty where there is no value.
    form : str, optional
        The form of dates, as in `datetime.strptime`; found by the words by default.
    times : bool
        Whether to look for dates.

    Examples
    --------
    >>> from lorenyi.data.texts import parse
    >>> found = parse(["1,020.33 €", "7 €", "n/a"])
    >>> found.kind, found.values.tolist(), found.form
    ('number', [1020.33, 7.0, nan], '€')
    >>> parse(["31.12.1969", "02.01.1970"]).values.tolist()
    [-1.0, 1.0]
    >>> parse(["red", "3"]) is None
    True
    """
    distinct, places = np.unique(np.asarray(words, dtype=str), return_inverse=True)
    gaps = is_gap(distinct)
    filled = [str(word).strip() for word in distinct[~gaps]]
    if not filled:
        return None
    found = None if form else _numbers(filled)
    if found is None and (times or form):
        found = _times(filled, form)
    if found is None:
        return None
    values = np.full(len(distinct), np.nan)
    values[~gaps] = found.values
    wrong = np.zeros(len(distinct), dtype=bool)
    wrong[~gaps] = found.wrong
    return Parsed(found.kind, values[places], wrong[places], found.form, found.doubt)


# ------------------------------------------------------------------------------- numbers


def _numbers(words: list[str]) -> Parsed | None:
    if any(_CODE.fullmatch(word) for word in words):
        return None
    readings = [_read(words, decimal) for decimal in _FORMS]
    best = min(readings, key=lambda reading: int(reading.wrong.sum()))  # on a tie the decimal point
    if best.wrong.sum() > (1.0 - MOSTLY) * len(words):
        return None
    both = not any(reading.wrong.any() for reading in readings)
    if both and not np.array_equal(readings[0].values, readings[1].values):
        point, comma = (reading.values for reading in readings)
        i = int(np.argmax(point != comma))
        doubt = f"{words[i]} is read as {point[i]:g}, not {comma[i]:g}"
        return Parsed(best.kind, best.values, best.wrong, best.form, doubt)
    return best


def _read(words: list[str], decimal: str) -> Parsed:
    """Read numbers with a decimal point or comma; a unit must be one for all."""
    values, units = np.full(len(words), np.nan), [""] * len(words)
    for i, word in enumerate(words):
        values[i], units[i] = _number(word, decimal)
    readable = ~np.isnan(values)
    counts: dict[str, int] = {}
    for unit, fine in zip(units, readable, strict=True):
        if fine:
            counts[unit] = counts.get(unit, 0) + 1
    named = {unit: count for unit, count in counts.items() if unit}
    unit = max(named, key=lambda u: named[u]) if named else ""
    bare = not unit or unit in CURRENCIES  # 5 beside $5 is $5; beside 5% it is not known
    for i, other in enumerate(units):
        if other != unit and not (bare and not other):
            values[i] = np.nan
    return Parsed("number", values, np.isnan(values), unit)


def _number(word: str, decimal: str) -> tuple[float, str]:
    if _INFINITE.fullmatch(word):
        return float(word), ""
    negative = word.startswith("(") and word.endswith(")")
    found = _FORMS[decimal].fullmatch(word[1:-1].strip() if negative else word)
    if found is None or (found["before"] and found["after"]):
        return math.nan, ""
    digits = re.sub(rf"[{SPACES}{QUOTES}{'.' if decimal == ',' else ','}]", "", found["number"])
    value = float(digits.replace(",", "."))
    minus = negative + sum(found[sign] in ("-", "−") for sign in ("sign", "inner"))
    return (-value if minus % 2 else value), found["before"] or found["after"] or ""


# ------------------------------------------------------------------------------- times


def _times(words: list[str], form: str | None) -> Parsed | None:
    seen = words[:: max(1, len(words) // LOOK)]
    if form is None:
        if not any(any(c.isdigit() for c in word) for word in seen):
            return None
        fits = {name: _readable(_reader(name), seen) for name in TIME_FORMS}
        form = max(fits, key=lambda name: fits[name])  # on a tie the first
        if fits[form] < MOSTLY * len(seen):
            return None
        also = [name for name, count in fits.items() if count == fits[form]]
    else:
        also = [form]
    reader = _reader(form)
    values = np.array([_days(reader, word) for word in words])
    wrong = np.isnan(values)
    swapped = form.replace("%m", "@").replace("%d", "%m").replace("@", "%d")
    doubt = f"{swapped} reads it too" if swapped != form and swapped in also else ""
    if form in _CLOCKS:
        return Parsed("number", 24.0 * (values % 1.0), wrong, "hours")
    return Parsed("time", values, wrong, form, doubt)


def _reader(form: str) -> Callable[[str], datetime]:
    if form == "ISO":
        return _iso
    return lambda word: datetime.strptime(word, form)


def _iso(word: str) -> datetime:
    if word.isdigit():  # a number, also of eight digits
        raise ValueError(word)
    return datetime.fromisoformat(word)


def _readable(reader: Callable[[str], datetime], words: Iterable[str]) -> int:
    return sum(not math.isnan(_days(reader, word)) for word in words)


def _days(reader: Callable[[str], datetime], word: str) -> float:
    try:
        found = reader(word)
    except ValueError:
        return math.nan
    return (found.replace(tzinfo=found.tzinfo or UTC) - EPOCH) / DAY
