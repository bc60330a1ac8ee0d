"""The information plane: what layers know of the input and of the target, while they learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lorenyi.functionals import Renyi
from lorenyi.nn.kernels import AnyKernel
from lorenyi.nn.terms import NEAREST, entropies
from lorenyi.nn.watching import Closing, watch


class Record(NamedTuple):
    """One point of the plane."""

    step: int
    layer: str
    i_xt: float
    i_ty: float


class InformationPlane(Closing):
    """Records I(X; T) and I(T; Y) of a model's layers T by forward hooks: the model is not changed.

    After a forward pass, `record` measures what the hooks caught. `close`, or a `with` block,
    takes the hooks away. `lorenyi.plots.InformationPlaneDisplay.from_plane` draws the records.

    Parameters
    ----------
    model : nn.Module
        Any.
    layers : sequence of str
        Names of its submodules, as for `watch`.
    entropy : Renyi
        The functional; compare values of one functional on batches of one size.
    kernel_x, kernel_t : Kernel or LearnableGaussian, optional
        Of inputs and activations.
    kernel_y : Kernel, optional
        Of targets; by default the one that fits their type: equality for integer labels.
    each : callable, optional
        What to keep of an output, as for `watch`: `lambda t: t.mean(1)` for the mean of tokens.

    Attributes
    ----------
    records : list of Record
        Rows of step, layer, i_xt, i_ty (bits).

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import InformationPlane
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    >>> x, y = torch.randn(60, 8), torch.arange(60) % 2
    >>> with InformationPlane(model, ["1", "2"]) as plane:
    ...     for step in range(3):
    ...         logits = model(x)
    ...         plane.record(step, x, y)
    >>> [(row.step, row.layer) for row in plane.records[:3]]
    [(0, '1'), (0, '2'), (1, '1')]
    """

    def __init__(
        self,
        model: nn.Module,
        layers: Sequence[str],
        *,
        entropy: Renyi = Renyi(1.01),
        kernel_x: AnyKernel = NEAREST,
        kernel_t: AnyKernel = NEAREST,
        kernel_y: AnyKernel = None,
        each: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self._seen = watch(model, layers, each, last=True, device=None)
        self.layers = self._seen.layers
        self.records: list[Record] = []
        self.entropy = entropy
        self.kernel_x, self.kernel_t, self.kernel_y = kernel_x, kernel_t, kernel_y

    @torch.no_grad()
    def record(self, step: int, x: Tensor, y: Tensor) -> None:
        """Measure the layers on the last forward pass, which was of x; each variable once.

        Parameters
        ----------
        step : int
            What to file them under: a step, an epoch.
        x, y : Tensor
            The batch that the model was called on, and its targets.
        """
        variables = {"x": (x, self.kernel_x), "y": (y, self.kernel_y)}
        groups = [["x"], ["y"]]
        for name, t in self._seen.items():
            if len(t) != len(x):
                raise ValueError(
                    f"layer {name!r} last saw {len(t)} rows and x has {len(x)}: record right after "
                    "the forward pass of x"
                )
            key = f"layer {name!r}"
            variables[key] = (t, self.kernel_t)
            groups += [[key], ["x", key], [key, "y"]]
        bits = torch.stack(entropies(self.entropy, variables, groups)).tolist()
        for name, i in zip(self.layers, range(2, len(bits), 3), strict=True):
            t, xt, ty = bits[i : i + 3]
            self.records.append(Record(step, name, bits[0] + t - xt, bits[1] + t - ty))

    def close(self) -> None:
        """Take the hooks away and forget the activations; the records stay."""
        self._seen.close()
        self._seen.clear()
