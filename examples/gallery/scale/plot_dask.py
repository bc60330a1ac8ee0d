"""
Rows on a Dask cluster
======================

The same call takes a Dask array. Blocks of rows stay where they are; small matrices travel. The
answer does not depend on how the rows are cut. Needs ``pip install "lorenyi[dask]"``.
"""

import dask.array as da
import matplotlib.pyplot as plt

import lorenyi as lr
from lorenyi.plots.style import MAIN, SOFT

x = da.random.default_rng(0).normal(size=(60_000, 2), chunks=(20_000, 2))
y = (x[:, 0] > 0).astype(int)
H = lr.Renyi(alpha=2, rank=10, solver=lr.Auto(tol=1e-2))

found = lr.mutual_information(x, y, entropy=H.certified)
found

# %%
# Other chunks, the same answer: random draws are keyed by row number.

chunks = [10_000, 20_000, 30_000]
values = [
    lr.mutual_information(x.rechunk((c, 2)), y.rechunk(c), entropy=H.certified) for c in chunks
]
in_memory = lr.mutual_information(x.compute(), y.compute(), entropy=H.certified)
print([f"{v.value:.12f}" for v in values], f"{in_memory.value:.12f} in memory")

# %%
# The bars are certified bounds of the computation. They are not sampling errors.

names = [f"{c:,} rows a chunk" for c in chunks] + ["in memory"]
every = [*values, in_memory]
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
middles = [v.value for v in every]
ends = [[v.value - v.low for v in every], [v.high - v.value for v in every]]
ax.errorbar(middles, names, xerr=ends, fmt="o", capsize=4, color=MAIN, ecolor=SOFT)
ax.set(xlabel="I(x; y), bits, with certified bounds")
plt.show()

# %%
# With ``dask.distributed.Client()`` in the same process the work runs on its workers: see
# :doc:`beyond memory </scaling>`.
