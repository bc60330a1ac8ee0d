"""What layers, tokens and embeddings hold, many at once: arrays and tensors `[..., T, D]`.

T points (tokens, samples) of D columns; all axes before them are measured at once, as they are:
layers, sequences, heads. Amounts are in bits. Tensors keep their precision, device and gradient;
NumPy's numbers are computed in float64.
"""

from lorenyi.representations.entropies import (
    conditional_vendi_score,
    dime,
    effective_rank,
    entropy,
    information_vendi_score,
    jensen_shannon_divergence,
    mutual_information,
    rankme,
)
from lorenyi.representations.errors import standard_error
from lorenyi.representations.similarity import cka, cka_matrix, hsic

__all__ = [
    "cka",
    "cka_matrix",
    "conditional_vendi_score",
    "dime",
    "effective_rank",
    "entropy",
    "hsic",
    "information_vendi_score",
    "jensen_shannon_divergence",
    "mutual_information",
    "rankme",
    "standard_error",
]
