"""Information measured directly from data: entropies read off the eigenvalues of a kernel matrix.

>>> import lorenyi as lr
>>> lr.mutual_information([0, 0, 1, 1], ["no", "no", "yes", "yes"])
1.0 bits (x: Delta(), y: Delta())
"""

from lorenyi import theory
from lorenyi.bandwidths import GeometricMean, Median, Nearest, Scott, Silverman
from lorenyi.entropy import information_potential, renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import CollisionEntropy, Renyi
from lorenyi.gram import Gram, gram, joint
from lorenyi.independence import IndependenceTest, independence_test
from lorenyi.kernels import (
    Cosine,
    Delta,
    Function,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
)
from lorenyi.measures import (
    conditional_entropy,
    conditional_mutual_information,
    dual_total_correlation,
    entropy,
    interaction_information,
    joint_entropy,
    mutual_information,
    normalized_mutual_information,
    total_correlation,
    vendi_score,
)
from lorenyi.spectra import (
    Auto,
    BlockLanczos,
    Exact,
    GaussianProjection,
    HadamardProjection,
    InputSparsity,
    Lanczos,
    PivotedCholesky,
    Solver,
    SparseGraph,
    Spectrum,
    SubspaceIteration,
)

__version__ = "0.1.0"

__all__ = [
    "Auto",
    "BlockLanczos",
    "CollisionEntropy",
    "Cosine",
    "Delta",
    "Estimate",
    "Exact",
    "Function",
    "Gaussian",
    "GaussianProjection",
    "GeometricMean",
    "Gram",
    "HadamardProjection",
    "IndependenceTest",
    "InputSparsity",
    "Kernel",
    "Lanczos",
    "Laplacian",
    "Linear",
    "Median",
    "Nearest",
    "PivotedCholesky",
    "Polynomial",
    "Precomputed",
    "Renyi",
    "Scott",
    "Silverman",
    "Solver",
    "SparseGraph",
    "Spectrum",
    "SubspaceIteration",
    "conditional_entropy",
    "conditional_mutual_information",
    "dual_total_correlation",
    "entropy",
    "gram",
    "independence_test",
    "information_potential",
    "interaction_information",
    "joint",
    "joint_entropy",
    "mutual_information",
    "normalized_mutual_information",
    "renyi_entropy",
    "theory",
    "total_correlation",
    "vendi_score",
]
