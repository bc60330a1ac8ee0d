"""The information plane: what layers know of the input and of the target, while they learn."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lorenyi.functionals import Renyi
from lorenyi.nn.terms import NEAREST, AnyKernel, MutualInformation


class Record(NamedTuple):
    """One point of the plane."""

    step: int
    layer: str
    i_xt: float
    i_ty: float


class InformationPlane:
    """Records I(X; T) and I(T; Y) of a model's layers T by forward hooks: the model is not changed.

    After a forward pass, `record` measures what the hooks caught. `close`, or a `with` block,
    takes the hooks away. `lorenyi.plots.InformationPlaneDisplay.from_plane` draws the records.

    Parameters
    ----------
    model : nn.Module
        Any.
    layers : sequence of str
        Names of its submodules, as `model.named_modules()` gives them.
    entropy : Renyi
        The functional; compare values of one functional on batches of one size.
    kernel_x, kernel_t : Kernel or LearnableGaussian, optional
        Of inputs and activations.
    kernel_y : Kernel, optional
        Of targets; by default the one that fits their type: equality for integer labels.

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
    ) -> None:
        modules = dict(model.named_modules())
        missing = [name for name in layers if name not in modules]
        if missing or not layers or isinstance(layers, str):
            known = ", ".join(name for name in modules if name)
            raise ValueError(f"layers={layers!r}: give a list of names of submodules ({known})")
        self.layers = list(layers)
        self.records: list[Record] = []
        self._with_x = MutualInformation(entropy, kernel_x, kernel_t)
        self._with_y = MutualInformation(entropy, kernel_t, kernel_y)
        self._caught: dict[str, Tensor] = {}
        self._hooks = [modules[name].register_forward_hook(self._catch(name)) for name in layers]

    def _catch(self, name: str) -> Any:
        def hook(module: nn.Module, given: Any, output: Any) -> None:
            first = output[0] if isinstance(output, (tuple, list)) else output
            self._caught[name] = first.detach()

        return hook

    @torch.no_grad()
    def record(self, step: int, x: Tensor, y: Tensor) -> None:
        """Measure the layers on the last forward pass, which was of x.

        Parameters
        ----------
        step : int
            What to file them under: a step, an epoch.
        x, y : Tensor
            The batch that the model was called on, and its targets.
        """
        rows = []
        for name in self.layers:
            if name not in self._caught:
                raise RuntimeError(f"layer {name!r} was not passed: call the model on x first")
            t = self._caught[name]
            if len(t) != len(x):
                raise ValueError(
                    f"layer {name!r} last saw {len(t)} rows and x has {len(x)}: record right after "
                    "the forward pass of x"
                )
            i_xt, i_ty = self._with_x(x, t).item(), self._with_y(t, y).item()
            rows.append(Record(step, name, i_xt, i_ty))
        self.records += rows

    def close(self) -> None:
        """Take the hooks away and forget the activations; the records stay."""
        for hook in self._hooks:
            hook.remove()
        self._caught.clear()

    def __enter__(self) -> InformationPlane:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
