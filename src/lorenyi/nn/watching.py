"""Outputs of a model's layers, collected over batches by forward hooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn


def watch(
    model: nn.Module,
    layers: Sequence[str],
    each: Callable[[Tensor], Tensor] | None = None,
    *,
    last: bool = False,
    device: str | torch.device | None = "cpu",
) -> Watch:
    """Collect the outputs of a model's layers while it is called: the model is not changed.

    Parameters
    ----------
    model : nn.Module
        Any.
    layers : sequence of str
        Names of submodules, as `model.named_modules()` gives them. Of a tuple or dict that a layer
        returns, the first tensor of two or more axes is taken; "name:key" takes another, "lstm:1.0"
        or "encoder:last_hidden_state".
    each : callable, optional
        What to keep of an output, batch first: a mean over tokens, or a measure of
        `lorenyi.representations`, so that of many batches only numbers are kept.
    last : bool
        Keep the last call alone.
    device : str, optional
        Where outputs are kept; None leaves them where they are.

    Returns
    -------
    Watch
        A mapping from layers to what was collected, the batches one after the other.

    Examples
    --------
    >>> import torch
    >>> from lorenyi.nn import watch
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    >>> with watch(model, ["0", "2"]) as seen:
    ...     for batch in torch.randn(3, 20, 8):
    ...         _ = model(batch)
    >>> {name: tuple(output.shape) for name, output in seen.items()}
    {'0': (60, 4), '2': (60, 2)}
    """
    return Watch(model, layers, each, last, device)


class Closing(ABC):
    """What is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Remove the hooks."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Watch(Closing, Mapping[str, Tensor]):
    """What `watch` has collected so far; `close`, or a `with` block, takes the hooks away."""

    def __init__(
        self,
        model: nn.Module,
        layers: Sequence[str],
        each: Callable[[Tensor], Tensor] | None,
        last: bool,
        device: str | torch.device | None,
    ) -> None:
        modules = dict(model.named_modules())
        named = {} if isinstance(layers, str) else {name: name.partition(":") for name in layers}
        if not named or any(module not in modules for module, _, _ in named.values()):
            known = ", ".join(name for name in modules if name)
            raise ValueError(f"layers={layers!r}: give a list of names of submodules ({known})")
        self.layers = list(named)
        self._each, self._last, self._device = each, last, device
        self._kept: dict[str, list[Tensor]] = {name: [] for name in named}
        self._hooks = [
            modules[module].register_forward_hook(self._catch(name, key))
            for name, (module, _, key) in named.items()
        ]

    def _catch(self, name: str, key: str) -> Any:
        @torch.no_grad()
        def hook(module: nn.Module, given: Any, output: Any) -> None:
            found = at(output, key, name).detach()
            found = found if self._each is None else self._each(found)
            found = found if self._device is None else found.to(self._device)
            if self._last:
                self._kept[name].clear()
            # The model may write to its output later, in place.
            same = self._each is None and found.device == at(output, key, name).device
            self._kept[name].append(found.clone() if same else found)

        return hook

    def __getitem__(self, layer: str) -> Tensor:
        """Return what was collected of a layer."""
        kept = self._kept[layer]
        if not kept:
            raise RuntimeError(f"layer {layer!r} was not passed: call the model first")
        if len(kept) > 1:  # joined once
            kept[:] = [torch.cat(kept)]
        return kept[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def clear(self) -> None:
        """Forget what was collected; go on collecting."""
        for kept in self._kept.values():
            kept.clear()

    def close(self) -> None:
        """Take the hooks away; what was collected stays."""
        for hook in self._hooks:
            hook.remove()


def at(output: Any, key: str, name: str) -> Tensor:
    """Return the tensor of an output at a key, or the first that can be a representation."""
    if key:
        for part in key.split("."):
            try:
                output = output[part] if isinstance(output, Mapping) else output[int(part)]
            except (KeyError, IndexError, ValueError, TypeError) as error:
                kind = type(output).__name__
                raise ValueError(f"layer {name!r}: its {kind} has nothing at {part!r}") from error
    found = next(tensors(output), None)
    if found is None:
        raise ValueError(
            f"layer {name!r} returned {type(output).__name__} without a tensor of two or more axes"
        )
    return found


def tensors(output: Any) -> Iterator[Tensor]:
    """Yield the tensors of two or more axes in tuples, lists and dicts, in their order."""
    if isinstance(output, Tensor):
        if output.ndim > 1:
            yield output
        return
    parts = output.values() if isinstance(output, Mapping) else output
    if isinstance(output, (Mapping, tuple, list)):
        for part in parts:
            yield from tensors(part)
