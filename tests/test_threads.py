"""Threads: BLAS has one while the library works, on any thread, and its own number afterwards."""

import threading

import limits
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lorenyi as lr
from lorenyi import _arrays, blocks
from lorenyi.selection import InformationSelector


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.fixture
def two_threads():
    """BLAS as on a machine where nobody has set the number of its threads."""
    with threadpool_limits(limits=2, user_api="blas"):
        assert blas_threads() == {2}
        yield
        assert blas_threads() == {2}


def on_a_thread(function):
    """Call a function on a thread of its own; return what it returns."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


class Watch(lr.Exact):
    """A solver that notes how many threads BLAS has."""

    def solve(self, A, rank):
        seen.append(blas_threads())
        return super().solve(A, rank)


seen: list[set[int]] = []
X = np.random.default_rng(0).normal(size=(60, 3))
CALLS = {
    "value": lambda: lr.entropy(X, entropy=lr.Renyi(1, solver=Watch())),
    "interval": lambda: lr.entropy(X, entropy=lr.Renyi(1, solver=Watch()).certified),
    "spectrum": lambda: Watch()(lr.gram(X)),
    "permutations": lambda: lr.independence_test(
        X[:, 0], X[:, 1], entropy=lr.Renyi(1, solver=Watch()), permutations=5
    ),
    "selection": lambda: InformationSelector(1, kernel=Noting()).fit(X, X[:, 0] > 0),
}


class Noting(lr.Gaussian):
    """A kernel that notes how many threads BLAS has."""

    def block(self, X, Y):
        seen.append(blas_threads())
        return super().block(X, Y)

    def matrix(self, points):
        seen.append(blas_threads())
        return super().matrix(points)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("where", [lambda call: call(), on_a_thread], ids=["main", "other"])
@pytest.mark.parametrize("name", CALLS)
def test_blas_has_one_thread_while_we_work_and_its_own_afterwards(name, where):
    seen.clear()
    where(CALLS[name])
    assert seen
    assert all(threads == {1} for threads in seen)


@pytest.mark.usefixtures("two_threads")
def test_the_last_of_several_to_leave_restores_the_threads():
    """Entered and left in another order than a stack's, as threads do."""
    first, second = _arrays.one_thread(), _arrays.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_threads_are_restored_after_an_error():
    with pytest.raises(ValueError, match="rank=99"):
        lr.entropy(X, entropy=lr.Renyi(2, rank=99))
    assert blas_threads() == {2}


def test_a_forked_process_leaves_what_it_entered_before_without_an_error():
    """What a fork does to the counts, without a fork: threads that were inside are forgotten."""
    with threadpool_limits(limits=2, user_api="blas"):
        with _arrays.one_thread():
            _arrays._after_fork()
        assert blas_threads() == {1}  # as the fork found it
        with _arrays.one_thread():
            assert blas_threads() == {1}
    assert _arrays._of_all.count == 0


@pytest.mark.usefixtures("two_threads")
def test_many_threads_at_once_agree_with_one_and_restore_the_setting():
    calls = [lambda s=s: float(lr.entropy(X[:, :1] + s * X[:, 1:2])) for s in range(8)]
    expected = [call() for call in calls]
    found = [None] * len(calls)

    def work(i):
        for _ in range(5):
            found[i] = calls[i]()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_tensors_keep_the_threads_that_their_user_gave_them():
    import torch

    with threadpool_limits(limits=2, user_api="blas"):
        seen.clear()
        lr.entropy(lr.gram(torch.from_numpy(X), Noting(1.0)))
        assert seen
        assert all(threads == {2} for threads in seen)


def test_tasks_run_side_by_side_off_the_main_thread_too(monkeypatch):
    """Two tasks that wait for each other end only if both run at once."""
    monkeypatch.setattr(blocks, "cores", lambda: 2)
    blocks._pool.cache_clear()
    barrier = threading.Barrier(2, timeout=30)
    assert sorted(on_a_thread(lambda: blocks.parallel(lambda _: barrier.wait(), [0, 1]))) == [0, 1]


def test_tasks_within_tasks_do_not_wait_for_their_own_threads():
    def outer(i):
        return sum(blocks.parallel(lambda j: i * j, range(20)))

    with limits.seconds(60):
        found = blocks.parallel(outer, range(50), workers=8)
    assert found == [190 * i for i in range(50)]
