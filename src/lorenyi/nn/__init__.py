"""Information as a loss for PyTorch, and what layers know: ``pip install "lorenyi[torch]"``.

Values are in bits and come from the same code as everywhere else: eigenvectors are found without
gradient, eigenvalues are their Rayleigh quotients, and the gradient follows from that line. Models
are not touched: a term takes tensors (inputs, representations, labels) and gives a 0-d tensor.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as missing:
    raise ImportError('lorenyi.nn needs PyTorch: pip install "lorenyi[torch]"') from missing

from lorenyi.nn.bottlenecks import (
    InformationBottleneck,
    NonlinearBottleneck,
    VariationalBottleneck,
)
from lorenyi.nn.kernels import Held, LearnableGaussian
from lorenyi.nn.parallel import gather
from lorenyi.nn.plane import InformationPlane, Record
from lorenyi.nn.terms import Entropy, MutualInformation, TotalCorrelation
from lorenyi.nn.watching import Watch, watch

__all__ = [
    "Entropy",
    "Held",
    "InformationBottleneck",
    "InformationPlane",
    "LearnableGaussian",
    "MutualInformation",
    "NonlinearBottleneck",
    "Record",
    "TotalCorrelation",
    "VariationalBottleneck",
    "Watch",
    "gather",
    "watch",
]
