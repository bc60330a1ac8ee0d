"""Images for the bottleneck experiments: MNIST and CIFAR-10 from files, and batches of them."""

from __future__ import annotations

import gzip
import pickle
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
MNIST_MEAN, MNIST_STD = (0.1307,), (0.3081,)


@dataclass
class Images:
    """Training and test images (n x channels x height x width, uint8) with their labels."""

    name: str
    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor
    mean: tuple[float, ...]
    std: tuple[float, ...]
    augmented: bool

    def to(self, device: str) -> Images:
        moved = (t.to(device) for t in (self.train, self.train_labels, self.test, self.test_labels))
        return Images(self.name, *moved, self.mean, self.std, self.augmented)

    def fewer(self, rows: int | None) -> Images:
        """Return the first rows of both parts (the files are in random order)."""
        train, labels = self.train[:rows], self.train_labels[:rows]
        test, test_labels = self.test[:rows], self.test_labels[:rows]
        return Images(
            self.name, train, labels, test, test_labels, self.mean, self.std, self.augmented
        )


# ------------------------------------------------------------------------------------ files


def mnist(folder: Path) -> Images:
    """Read mnist.npz, or the four idx files (gzipped or not)."""
    archive = folder / "mnist.npz"
    if archive.exists():
        with np.load(archive) as data:
            keys = ("X_train", "y_train", "X_test", "y_test")
            if "X_train" not in data:  # Keras calls them so
                keys = ("x_train", "y_train", "x_test", "y_test")
            parts = [data[key] for key in keys]
    else:
        names = ("train-images", "train-labels", "t10k-images", "t10k-labels")
        parts = [read_idx(folder, name) for name in names]
    x, y, x_test, y_test = (torch.from_numpy(np.ascontiguousarray(part)) for part in parts)
    return Images(
        "mnist",
        x[:, None],
        y.long(),
        x_test[:, None],
        y_test.long(),
        MNIST_MEAN,
        MNIST_STD,
        augmented=False,
    )


def read_idx(folder: Path, name: str) -> np.ndarray:
    """Read an idx file: a magic number, the sizes, then bytes."""
    found = sorted(folder.glob(f"{name}[-.]idx*-ubyte*"))
    if not found:
        raise SystemExit(f"{folder} has neither mnist.npz nor {name}-idx?-ubyte[.gz]")
    opened = gzip.open if found[0].suffix == ".gz" else open
    with opened(found[0], "rb") as stream:
        content = stream.read()
    axes = content[3]
    shape = struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape).copy()


def cifar10(folder: Path) -> Images:
    """Read the batches data_batch_1 .. 5 and test_batch, in Python's or in the binary form."""
    inner = [folder / name for name in ("cifar-10-batches-py", "cifar-10-batches-bin")]
    places = [place for place in (*inner, folder) if any(place.glob("test_batch*"))]
    if not places:
        raise SystemExit(
            f"{folder} has no test_batch: give the folder of cifar-10-python.tar.gz or "
            "cifar-10-binary.tar.gz, unpacked"
        )
    folder = places[0]
    end = "" if (folder / "test_batch").exists() else ".bin"
    read = read_binary if end else read_batch
    train = [read(folder / f"data_batch_{i}{end}") for i in range(1, 6)]
    x, y = torch.cat([part[0] for part in train]), torch.cat([part[1] for part in train])
    test = read(folder / f"test_batch{end}")
    return Images("cifar10", x, y, *test, CIFAR_MEAN, CIFAR_STD, augmented=True)


def read_batch(file: Path) -> tuple[Tensor, Tensor]:
    with file.open("rb") as stream:
        batch = pickle.load(stream, encoding="bytes")
    pixels = np.asarray(batch[b"data"], dtype=np.uint8).reshape(-1, 3, 32, 32)
    return torch.from_numpy(pixels), torch.tensor(batch[b"labels"])


def read_binary(file: Path) -> tuple[Tensor, Tensor]:
    """Read records of a label and 3 x 32 x 32 pixels, a byte each."""
    records = np.fromfile(file, dtype=np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    labels, pixels = records[:, 0].astype(np.int64), records[:, 1:].reshape(-1, 3, 32, 32)
    return torch.from_numpy(pixels.copy()), torch.from_numpy(labels)


def cifar10_subset(folder: Path) -> Images:
    """Read cifar10_subset.npz; validation and test images together are its test part."""
    archive = folder / "cifar10_subset.npz"
    if not archive.exists():
        raise SystemExit(f"{folder} has no cifar10_subset.npz")
    with np.load(archive) as data:
        x, y = torch.from_numpy(data["X_train"]), torch.from_numpy(data["y_train"])
        x_test = torch.from_numpy(np.concatenate([data["X_val"], data["X_test"]]))
        y_test = torch.from_numpy(np.concatenate([data["y_val"], data["y_test"]]))
    return Images("subset", x, y, x_test, y_test, CIFAR_MEAN, CIFAR_STD, augmented=True)


READERS = {"mnist": mnist, "cifar10": cifar10, "subset": cifar10_subset}


# ---------------------------------------------------------------------------------- batches


def pixels(images: Tensor) -> Tensor:
    """Return pixels from 0 to 1."""
    return images.float() / 255


def batches(images: Images, size: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the training images once in random order; the last batch may be smaller.

    All is drawn and made on the device that holds the images.
    """
    device = images.train.device
    generator = torch.Generator(device).manual_seed(seed)
    order = torch.randperm(len(images.train), generator=generator, device=device)
    for index in order.split(size):
        x = pixels(images.train[index])
        if images.augmented:
            x = augment(x, generator)
        if x.shape[1] > 1:
            x = x.contiguous(memory_format=torch.channels_last)
        yield x, images.train_labels[index]


def augment(x: Tensor, generator: torch.Generator, pad: int = 4) -> Tensor:
    """Shift each image by up to `pad` pixels and mirror half of them."""
    n, channels, height, width = x.shape
    where: dict[str, Any] = {"generator": generator, "device": x.device}
    padded = torch.nn.functional.pad(x, (pad,) * 4)
    down, right = torch.randint(0, 2 * pad + 1, (2, n, 1), **where)
    rows = (down + torch.arange(height, device=x.device))[:, None, :, None]
    columns = (right + torch.arange(width, device=x.device))[:, None, None, :]
    mirrored = torch.rand(n, **where)[:, None, None, None] < 0.5
    columns = torch.where(mirrored, columns.flip(3), columns)
    image = torch.arange(n, device=x.device)[:, None, None, None]
    channel = torch.arange(channels, device=x.device)[None, :, None, None]
    return padded[image, channel, rows, columns]
