"""Information measured directly from data: entropies read off the eigenvalues of a kernel matrix.

>>> import lorenyi as lr
>>> lr.mutual_information([0, 0, 1, 1], ["no", "no", "yes", "yes"])
1.0 bits (x: Delta(), y: Delta())
"""

from lorenyi import theory
from lorenyi.bandwidths import GeometricMean, Median, Nearest, Scott, Silverman
from lorenyi.divergences import divergence, mmd
from lorenyi.diversity import conditional_vendi_score, information_vendi_score, vendi_score
from lorenyi.entropy import information_potential, renyi_entropy
from lorenyi.estimate import Estimate
from lorenyi.functionals import CollisionEntropy, Renyi
from lorenyi.gram import Gram, gram, joint
from lorenyi.inference import (
    Chance,
    ColumnChange,
    ConditionalIndependenceTest,
    Drift,
    IndependenceTest,
    TestResult,
    TwoSampleTest,
    adjusted_mutual_information,
    chance_level,
    conditional_independence_test,
    corrected,
    independence_test,
    pointwise_information,
    split_half,
    transfer_entropy_test,
    two_sample_test,
)
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
    o_information,
    s_information,
    total_correlation,
)
from lorenyi.peaked import Peaked
from lorenyi.references import cka, distance_correlation, hsic
from lorenyi.series import shuffled_blocks, transfer_entropy
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
    "Chance",
    "CollisionEntropy",
    "ColumnChange",
    "ConditionalIndependenceTest",
    "Cosine",
    "Delta",
    "Drift",
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
    "Peaked",
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
    "TestResult",
    "TwoSampleTest",
    "adjusted_mutual_information",
    "chance_level",
    "cka",
    "conditional_entropy",
    "conditional_independence_test",
    "conditional_mutual_information",
    "conditional_vendi_score",
    "corrected",
    "distance_correlation",
    "divergence",
    "dual_total_correlation",
    "entropy",
    "gram",
    "hsic",
    "independence_test",
    "information_potential",
    "information_vendi_score",
    "interaction_information",
    "joint",
    "joint_entropy",
    "mmd",
    "mutual_information",
    "normalized_mutual_information",
    "o_information",
    "pointwise_information",
    "renyi_entropy",
    "s_information",
    "shuffled_blocks",
    "split_half",
    "theory",
    "total_correlation",
    "transfer_entropy",
    "transfer_entropy_test",
    "two_sample_test",
    "vendi_score",
]
