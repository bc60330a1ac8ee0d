"""The bottleneck experiment runs end to end on tiny images, resumes, and says what it did."""

import csv
import gzip
import json
import pickle
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import image_data  # noqa: E402
import image_tables  # noqa: E402
import information_bottleneck as script  # noqa: E402

import lorenyi as lr  # noqa: E402


def images(n, *shape):
    """Images whose brighter half tells the label."""
    y = np.arange(n) % 2
    x = np.random.default_rng(0).integers(0, 90, size=(n, *shape)).astype(np.uint8)
    x[y == 0, ..., : shape[-1] // 2] += 150
    x[y == 1, ..., shape[-1] // 2 :] += 150
    return x, y


def write_mnist(folder):
    x, y = images(160, 28, 28)
    x, a, y, b = x[:120], x[120:], y[:120], y[120:]
    np.savez(folder / "mnist.npz", X_train=x, y_train=y, X_test=a, y_test=b)
    return x, y, a, b


def read(file):
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


WORDS = ["mnist", "--epochs", "2", "--seeds", "2", "--width", "16", "--batch", "17"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    data, out = (tmp_path_factory.mktemp(name) for name in ("data", "out"))
    write_mnist(data)
    script.main([*WORDS, "--data", str(data), "--out", str(out), "--device", "cpu"])
    return data, out


def test_every_objective_gets_a_row_beside_the_papers(folders):
    """Batches of 17 of 120 rows: the last has one row."""
    _, out = folders
    table = read(out / "table.csv")
    assert [row["objective"] for row in table] == ["CE", "VIB", "NIB", "MRIB", "LRIB"]
    assert [row["paper: accuracy"] for row in table] == [
        "92.64",
        "94.08",
        "94.01",
        "94.13",
        "94.16",
    ]
    assert table[-1]["paper: minutes"] == "15 / 95"
    assert table[0]["minutes, information"] == table[0]["information term, bits"] == ""
    for row in table:
        assert set(row) >= {"clean", "noise 0.2", "fgsm 0.05", "minutes, all"}
        assert float(row["I(X; Z)"].split()[0]) > 0  # of cross-entropy alone, too
        assert "±" in row["clean"]
    assert "| LRIB |" in (out / "table.md").read_text(encoding="utf-8")
    runs = read(out / "runs.csv")
    assert len(runs) == 10
    assert all(float(run["clean"]) > 80 for run in runs if run["objective"] != "VIB")
    assert runs[0]["information_seconds"] == "0.0"  # CE has no such term


def test_the_picture_is_written(folders):
    pytest.importorskip("matplotlib")
    _, out = folders
    assert (out / "bottleneck.png").read_bytes().startswith(b"\x89PNG")


def test_a_finished_run_is_not_trained_again(folders, monkeypatch):
    data, out = folders
    before = (out / "runs.csv").read_text()

    def refuse(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(script, "train_epoch", refuse)
    script.main([*WORDS, "--data", str(data), "--out", str(out), "--device", "cpu"])
    assert (out / "runs.csv").read_text() == before
    with pytest.raises(AssertionError, match="trained again"):  # other settings: another run
        script.main([*WORDS, "--width", "12", "--data", str(data), "--out", str(out)])


@pytest.mark.parametrize("objective", ["VIB", "LRIB"])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(objective, tmp_path, monkeypatch):
    write_mnist(tmp_path)
    data = image_data.mnist(tmp_path)
    how = script.Settings(epochs=3, width=8, rate=0.05, seeds=1, batch=40)

    def train(out):
        (out / "runs").mkdir(parents=True, exist_ok=True)
        return script.trained(objective, 0, data, how, 0.01, out, "cpu")

    whole = train(tmp_path / "whole")
    original, calls = script.train_epoch, []

    def stop(*words):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        original(*words)

    monkeypatch.setattr(script, "train_epoch", stop)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "parts")
    resumed = train(tmp_path / "parts")
    assert len(calls) == 4
    assert resumed.epoch == 3
    assert resumed.loss == pytest.approx(whole.loss, abs=1e-6)
    assert resumed.accuracy == whole.accuracy


def test_a_run_goes_on_with_more_epochs(tmp_path):
    """A log has a line for each epoch; the accuracies are those of the longer run."""
    write_mnist(tmp_path)
    data = image_data.mnist(tmp_path)
    (tmp_path / "runs").mkdir()

    def train(epochs):
        how = script.Settings(epochs=epochs, width=8, rate=0.05, seeds=1, batch=40)
        return script.trained("LRIB", 0, data, how, 0.01, tmp_path, "cpu")

    short = train(2)
    longer = train(5)
    assert longer.loss[:2] == short.loss
    assert longer.epoch == len(longer.test) == 5
    assert longer.test[-1] == longer.accuracy["clean"]
    rows = read(tmp_path / "log.csv")
    assert [row["epoch"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [float(row["rate"]) for row in rows[2:]] == pytest.approx([0.005, 0.005, 0.0005])
    assert float(rows[-1]["test accuracy"]) == pytest.approx(longer.accuracy["clean"])
    assert train(3).epoch == 5  # what was trained longer is kept


def test_the_librarys_own_rule_is_an_option_with_a_ramp(tmp_path):
    write_mnist(tmp_path)
    words = ["mnist", "--objectives", "LRIB", "--rule", "default", "--ramp", "7", "--beta", "0.1"]
    words += ["--epochs", "4", "--seeds", "1", "--width", "16", "--batch", "30"]
    script.main([*words, "--data", str(tmp_path), "--out", str(tmp_path), "--device", "cpu"])
    kept = torch.load(tmp_path / "runs" / "LRIB-0.pt", weights_only=True)
    assert kept["model"]["bottleneck.steps"].item() == 16
    how = script.Settings(epochs=1, width=4, rate=0.1, seeds=1, rule="default", ramp=7)
    net = script.network("LRIB", image_data.mnist(tmp_path), how, 0.1, 0)
    assert net.bottleneck.measure.kernel_y == lr.Gaussian(lr.GeometricMean(0.5))


@pytest.mark.parametrize("amp", ["bfloat16", "float16"])
def test_half_precision_trains_and_resumes(amp, tmp_path):
    """With float16 the first steps overflow the scaler, which skips them and goes on."""
    write_mnist(tmp_path)
    data = image_data.mnist(tmp_path)
    (tmp_path / "runs").mkdir()
    how = script.Settings(epochs=6, width=16, rate=0.05, seeds=1, batch=20)
    run = script.trained("LRIB", 0, data, how, 0.01, tmp_path, "cpu", amp)
    assert run.accuracy["clean"] > 80
    assert run.information[-1] > 0
    kept = torch.load(tmp_path / "runs" / "LRIB-0.pt", weights_only=True)
    assert ("scale" in kept["scaler"]) == (amp == "float16")


def write_cifar10(folder, form):
    """Write five batches of eight images and one for testing."""
    inner = folder / f"cifar-10-batches-{form}"
    inner.mkdir()
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        x, y = images(8, 3, 32, 32)
        rows = x.reshape(8, -1)
        if form == "py":
            batch = {b"data": rows, b"labels": y.tolist()}
            (inner / name).write_bytes(pickle.dumps(batch))
        else:
            records = np.concatenate([y[:, None].astype(np.uint8), rows], axis=1)
            (inner / f"{name}.bin").write_bytes(records.tobytes())


def test_both_forms_of_cifar10_are_read_alike(tmp_path):
    found = []
    for form in ("py", "bin"):
        folder = tmp_path / form
        folder.mkdir()
        write_cifar10(folder, form)
        found.append(image_data.cifar10(folder))
    python, binary = found
    assert python.train.shape == (40, 3, 32, 32)
    for part in ("train", "train_labels", "test", "test_labels"):
        assert torch.equal(getattr(python, part), getattr(binary, part))


def test_a_thin_vgg16_learns_from_cifar10(tmp_path):
    write_cifar10(tmp_path, "bin")
    data = image_data.cifar10(tmp_path)
    (x, _), *_ = image_data.batches(data, 13, 0)
    assert x.is_contiguous(memory_format=torch.channels_last)
    words = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--objectives", "LRIB"]
    words += ["--epochs", "1", "--seeds", "1", "--width", "2", "--batch", "13", "--device", "cpu"]
    (row,) = script.main(["cifar10", *words])
    assert float(row["information term, bits"]) > 0
    net = script.network("CE", data, script.SETTINGS["cifar10"], 0.0, 0)
    convolutions = [m for m in net.modules() if isinstance(m, torch.nn.Conv2d)]
    assert [c.out_channels for c in convolutions] == [64] * 2 + [128] * 2 + [256] * 3 + [512] * 6


def test_validation_and_test_images_of_the_subset_are_put_together(tmp_path):
    parts = {}
    for name, n in (("train", 12), ("val", 4), ("test", 6)):
        parts[f"X_{name}"], parts[f"y_{name}"] = images(n, 3, 32, 32)
    np.savez(tmp_path / "cifar10_subset.npz", **parts)
    data = image_data.cifar10_subset(tmp_path)
    assert len(data.train), len(data.test) == (12, 10)
    assert torch.equal(data.test[4:], torch.from_numpy(parts["X_test"]))


@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_are_read_like_the_archive(zipped, tmp_path):
    archive, plain = tmp_path / "npz", tmp_path / "idx"
    archive.mkdir()
    plain.mkdir()
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    for name, array in zip(names, write_mnist(archive), strict=True):
        head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        content = head + array.astype(np.uint8).tobytes()
        file = plain / f"{name}-ubyte{'.gz' * zipped}"
        file.write_bytes(gzip.compress(content) if zipped else content)
    a, b = image_data.mnist(archive), image_data.mnist(plain)
    assert torch.equal(a.train, b.train)
    assert torch.equal(a.test_labels, b.test_labels)


def test_augmented_images_are_shifted_and_mirrored_ones():
    """Every result is one of the 81 crops of the padded image, or the mirror of one."""
    x = torch.rand(20, 2, 6, 6)
    found = image_data.augment(x, torch.Generator().manual_seed(0))
    padded = torch.nn.functional.pad(x, (4,) * 4)
    mirrored = 0
    for image, result in zip(padded, found, strict=True):
        crops = [image[:, i : i + 6, j : j + 6] for i in range(9) for j in range(9)]
        plain = any(torch.equal(result, crop) for crop in crops)
        flipped = any(torch.equal(result, crop.flip(2)) for crop in crops)
        assert plain or flipped
        mirrored += not plain
    assert 3 < mirrored < 17


def test_epochs_pass_through_all_images_in_an_order_of_their_own():
    x = torch.arange(50, dtype=torch.uint8).reshape(50, 1, 1, 1)
    data = image_data.Images("t", x, x.flatten(), x, x.flatten(), (0.0,), (1.0,), False)
    orders = [torch.cat([y for _, y in image_data.batches(data, 7, seed)]) for seed in (0, 0, 1)]
    assert torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[0], orders[2])
    assert orders[2].sort().values.tolist() == list(range(50))


def test_the_rate_falls_after_each_third(tmp_path, monkeypatch):
    write_mnist(tmp_path)
    data, rates = image_data.mnist(tmp_path).fewer(10), []
    how = script.Settings(epochs=6, width=4, rate=0.1, seeds=1)

    def watch(trainer, run):
        rates.append(trainer.optimiser.param_groups[0]["lr"])
        run.epoch += 1
        for values in (run.loss, run.information, run.test):
            values.append(0.0)

    monkeypatch.setattr(script, "train_epoch", watch)
    (tmp_path / "runs").mkdir()
    script.trained("CE", 0, data, how, 0.0, tmp_path, "cpu")
    assert rates == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001, 0.001])


def test_files_that_are_not_there_are_said(tmp_path):
    for reader, message in [
        (image_data.mnist, "neither mnist.npz nor train-images"),
        (image_data.cifar10, "no test_batch"),
        (image_data.cifar10_subset, "no cifar10_subset.npz"),
    ]:
        with pytest.raises(SystemExit, match=message):
            reader(tmp_path)


def test_the_papers_settings_are_those_of_cifar10():
    how = script.SETTINGS["cifar10"]
    assert (how.epochs, how.width, how.batch, how.rate) == (300, 64, 100, 0.1)
    assert script.BETAS["LRIB"] == script.BETAS["MRIB"] == 0.01
    assert json.dumps(image_tables.PAPER["LRIB"]) == "[94.16, 15, 95]"


def test_rules_are_judged_by_one_evaluator_and_resume(tmp_path, monkeypatch):
    import bottleneck_rules

    names = ("cross-entropy", "default, beta 0.1", "VIB, beta 0.01")
    kept = {name: bottleneck_rules.OBJECTIVES[name] for name in names}
    monkeypatch.setattr(bottleneck_rules, "OBJECTIVES", kept)
    write_mnist(tmp_path)
    words = ["--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    runs = bottleneck_rules.main(words)
    assert len(runs) == 6
    assert {"accuracy", "noise 0.4", "FGSM 0.1", "I(X; Z)", "I(Z; Y)", "spread"} <= set(runs[0])
    assert all(np.isfinite(run["I(X; Z)"]) for run in runs)
    assert (tmp_path / "out" / "table.md").read_text().count("\n") == 8
    assert (tmp_path / "out" / "chosen.md").read_text().count("\n") == 8
    monkeypatch.setattr(bottleneck_rules, "trained", None)  # nothing is trained again
    assert bottleneck_rules.main(words) == runs


def test_the_setting_of_an_objective_is_chosen_on_validation_images():
    import bottleneck_rules

    def run(objective, seed, validation, accuracy):
        names = {"network": "net", "objective": objective, "seed": seed}
        return names | {"accuracy": accuracy, "validation": validation}

    runs = [
        run("VIB, beta 0.001", 0, 90.0, 10.0),
        run("VIB, beta 0.001", 1, 94.0, 10.0),
        run("VIB, beta 0.01, ramp", 0, 91.0, 99.0),
        run("NIB, beta 0.03", 0, 1.0, 1.0),
    ]
    found = bottleneck_rules.chosen(runs)
    assert [r["objective"] for r in found] == ["VIB, beta 0.001"] * 2 + ["NIB, beta 0.03"]
