"""
From a messy table to a decision
================================

A small customer table as it is exported: dates, text, missing values, a column of identifiers, two
columns that say the same. Which columns are informative about who left? Needs pandas.
"""

# %%
# The CSV text is made here so that the script needs no file. It has 600 rows.

import io

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 600
plan = rng.choice(["basic", "plus", "pro"], n, p=[0.5, 0.3, 0.2])
calls = rng.poisson(3, n)
since = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1800, n), unit="D")
risk = 0.8 * (plan == "basic") + 0.45 * (calls > 4) - 0.0004 * (since - since.min()).days
left = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-6 * (risk - 0.45))), "left", "stayed")
spend = np.where(rng.uniform(size=n) < 0.15, np.nan, rng.gamma(2, 20, n).round(2))
exported = io.StringIO()
pd.DataFrame(
    {
        "customer": [f"C{i:05d}" for i in range(n)],
        "since": since.date,
        "plan": plan,
        "plan_code": pd.Series(plan).map({"basic": 1, "plus": 2, "pro": 3}),
        "support_calls": calls,
        "spend": spend,
        "newsletter": rng.choice(["yes", "no", ""], n),
        "status": left,
    }
).to_csv(exported, index=False)
_ = exported.seek(0)

# %%
# Dates are parsed, identifiers are left out: a column with one value per row is not
# informative about new rows. Missing numbers become a value of their own.

table = pd.read_csv(exported, parse_dates=["since"]).drop(columns="customer")
X, y = table.drop(columns="status"), table["status"]

from lorenyi.selection import InformationSelector

selector = InformationSelector().fit(X, y)
selector.path_

# %%
# The search stops by itself. ``plan_code`` repeats ``plan``, so only one of them is chosen; the
# columns of noise are not.

from lorenyi.plots import SelectionPathDisplay

SelectionPathDisplay.from_estimator(selector, X, y, beyond=2).plot()

# %%
# The same from the command line, with a report page:
#
# .. code-block:: console
#
#    $ lorenyi select customers.csv --target status --missing value --report customers.html
