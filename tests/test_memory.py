"""Memory that is free, on the machine and in a container."""

import psutil
import pytest

from lorenyi import _memory

GIB = 2**30


def test_free_memory_is_a_sensible_number():
    assert 2**20 < _memory.free_memory() < 2**50


def test_what_does_not_fit_is_refused_with_figures_and_a_remedy(monkeypatch):
    _memory.require_memory(1, "a byte", "buy more")
    monkeypatch.setattr(_memory, "free_memory", lambda: GIB)
    with pytest.raises(MemoryError, match=r"all of it needs 3.0 GiB and 1.0 GiB are free; buy"):
        _memory.require_memory(3 * GIB, "all of it", "buy more")


def test_a_little_always_fits(monkeypatch):
    monkeypatch.setattr(_memory, "free_memory", lambda: 0)
    assert _memory.fits(_memory.A_LITTLE)
    assert not _memory.fits(_memory.A_LITTLE + 1)


# ------------------------------------------------------------------------------- containers


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.fixture
def free(tmp_path, monkeypatch):
    """Free memory of a machine with 100 GiB whose system files are in a folder."""
    (tmp_path / "proc/self").mkdir(parents=True)
    groups = _memory._control_groups
    monkeypatch.setattr(_memory, "_control_groups", lambda: groups(tmp_path))
    machine = psutil.virtual_memory()._replace(available=100 * GIB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    groups.cache_clear()
    yield _memory.free_memory
    groups.cache_clear()


def second(folder, limit, used, cached=0):
    write(folder, memory__max=limit, memory__current=used)
    write(folder, memory__stat=f"anon 5\nfile {used}\ninactive_file {cached}\nactive_file 7")


def first(folder, limit, used, cached=0):
    write(folder, memory__limit_in_bytes=limit, memory__usage_in_bytes=used)
    write(folder, memory__stat=f"inactive_file 0\ntotal_inactive_file {cached}")


def test_without_control_groups_the_machine_counts(free):
    """As on macOS and Windows."""
    assert free() == 100 * GIB


def test_a_container_of_the_second_version_limits_it(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="0::/")
    second(tmp_path / "sys/fs/cgroup", 8 * GIB, 3 * GIB, GIB)
    assert free() == 6 * GIB  # pages of files are given up on demand


def test_no_limit_is_none(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="0::/user.slice")
    second(tmp_path / "sys/fs/cgroup/user.slice", "max", 3 * GIB)
    assert free() == 100 * GIB


def test_the_tightest_of_nested_groups_counts(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="0::/a/b/c")
    second(tmp_path / "sys/fs/cgroup/a", 8 * GIB, 7 * GIB)
    second(tmp_path / "sys/fs/cgroup/a/b", "max", 3 * GIB)
    second(tmp_path / "sys/fs/cgroup/a/b/c", 4 * GIB, GIB)
    assert free() == GIB


@pytest.mark.parametrize("folder", ["docker/1234", "."])
def test_a_container_of_the_first_version_limits_it(free, tmp_path, folder):
    """Whether or not it sees the path that it is told."""
    write(tmp_path / "proc/self", cgroup="5:cpu,cpuacct:/x\n4:memory:/docker/1234\n0::/")
    first(tmp_path / "sys/fs/cgroup/memory" / folder, 2 * GIB, GIB, GIB // 2)
    assert free() == GIB + GIB // 2


def test_no_limit_of_the_first_version_is_a_large_number(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="4:memory:/")
    first(tmp_path / "sys/fs/cgroup/memory", 9223372036854771712, GIB)
    assert free() == 100 * GIB


def test_a_group_that_is_over_its_limit_leaves_nothing(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="0::/")
    second(tmp_path / "sys/fs/cgroup", GIB, 2 * GIB)
    assert free() == 0


def test_a_group_that_cannot_be_read_does_not_count(free, tmp_path):
    write(tmp_path / "proc/self", cgroup="0::/")
    write(tmp_path / "sys/fs/cgroup", memory__max=GIB)
    assert free() == 100 * GIB
