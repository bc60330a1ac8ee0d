"""
Which columns repeat each other?
================================

The mutual information of each two columns, as a share of their entropies, with similar columns side
by side. Dark blocks are groups of redundant columns. Needs pandas.
"""

from sklearn.datasets import load_breast_cancer

from lorenyi.plots import InformationMatrixDisplay

X = load_breast_cancer(as_frame=True).data  # a pandas data frame

display = InformationMatrixDisplay.from_data(X.iloc[::4])
display.plot()

# %%
# The numbers behind the picture. The diagonal holds the entropies.

import numpy as np

shared = display.information - np.diag(display.information.diagonal())
i, j = np.unravel_index(shared.argmax(), shared.shape)
print(f"{display.names[i]} and {display.names[j]} share {shared[i, j]:.2f} bits")
