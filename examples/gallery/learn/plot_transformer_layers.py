"""
Layers of a transformer
=======================

A small transformer learns to find which token of a sequence occurs twice. The entropy of the tokens
of each layer and the similarity of layers (CKA), before and after training. Needs
``pip install "lorenyi[torch]"``.
"""

import matplotlib.pyplot as plt
import torch

from lorenyi import representations as rep
from lorenyi.nn import watch
from lorenyi.plots import LayerProfileDisplay, LayerSimilarityDisplay

_ = torch.manual_seed(0)
torch.set_num_threads(1)


class Reader(torch.nn.Module):
    """Embeds tokens, runs four layers, and reads the answer from their mean."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(12, 32)
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = torch.nn.Linear(32, 12)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)).mean(1))


def batch(size=128):
    """Return sequences of eight tokens, one of them twice, and which."""
    tokens = torch.stack([torch.randperm(12)[:8] for _ in range(size)])
    tokens[:, 7] = tokens[:, 2]
    return tokens[:, torch.randperm(8)], tokens[:, 2]


def observe(model):
    """Return the entropies and mean tokens of each layer on fresh sequences."""
    names = ["embed", *(f"layers.layers.{i}" for i in range(4))]
    tokens, _ = batch(200)
    with torch.no_grad(), watch(model, names, each=rep.entropy) as entropies:
        model(tokens)
    with torch.no_grad(), watch(model, names, each=lambda h: h.mean(1)) as means:
        model(tokens)
    short = ["embedding", "layer 1", "layer 2", "layer 3", "layer 4"]
    return (dict(zip(short, found.values(), strict=True)) for found in (entropies, means))


# %%

model = Reader()
before, _ = observe(model.eval())
step = torch.optim.Adam(model.parameters(), lr=2e-3)
model.train()
for _ in range(250):
    tokens, answer = batch()
    loss = torch.nn.functional.cross_entropy(model(tokens), answer)
    step.zero_grad()
    loss.backward()
    step.step()
model.eval()
tokens, answer = batch(1000)
print(f"accuracy {float((model(tokens).argmax(1) == answer).float().mean()):.2f}, by chance 0.08")

# %%
# The band reaches from the 10 % to the 90 % quantile over sequences.

after, means = observe(model)
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
LayerProfileDisplay.from_layers(before).plot(ax=axes[0])
LayerProfileDisplay.from_layers(after).plot(ax=axes[1])
LayerSimilarityDisplay.from_layers(means).plot(ax=axes[2])
for ax, title in zip(
    axes, ("entropy before training", "after training", "similarity (CKA)"), strict=True
):
    ax.set_title(title)
axes[0].set_ylim(0, 3.2)
axes[1].set_ylim(0, 3.2)
plt.show()
