"""Threads: one for BLAS while the library works, on any thread; tasks on all cores."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import limits
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lorenyi as lr
from lorenyi import _progress, _threads
from lorenyi._progress import counted, reporting
from lorenyi._threads import cores, one_thread, parallel
from lorenyi.selection import InformationSelector, JointInformation


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
    "selection": lambda: InformationSelector(1, criterion=JointInformation(), kernel=Noting()).fit(
        X, X[:, 0] > 0
    ),
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
    first, second = one_thread(), one_thread()
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
        with one_thread():
            _threads._after_fork()
        assert blas_threads() == {1}  # as the fork found it
        with one_thread():
            assert blas_threads() == {1}
    assert _threads._of_all.count == 0


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
    torch = pytest.importorskip("torch")

    with threadpool_limits(limits=2, user_api="blas"):
        seen.clear()
        lr.entropy(lr.gram(torch.from_numpy(X), Noting(1.0)))
        assert seen
        assert all(threads == {2} for threads in seen)


# ----------------------------------------------------------------------------------- tasks


def test_work_in_parallel_keeps_its_order_and_passes_errors_on():
    assert parallel(lambda i: i * i, range(50)) == [i * i for i in range(50)]
    assert parallel(str, []) == []

    def fails(i):
        if i == 3:
            raise RuntimeError("row 3")
        return i

    with pytest.raises(RuntimeError, match="row 3"):
        parallel(fails, range(8))


def test_an_error_is_raised_when_nothing_runs_any_more():
    running, begun = set(), 0

    def work(i):
        nonlocal begun
        begun += 1
        running.add(i)
        time.sleep(0.02)
        running.discard(i)
        if i == 0:
            raise RuntimeError("row 0")

    with pytest.raises(RuntimeError, match="row 0"):
        parallel(work, range(10_000), workers=2)
    assert not running
    assert begun < 10_000


def test_an_interruption_while_tasks_are_handed_out_leaves_nothing_behind(monkeypatch):
    done = []

    class Pool:
        def submit(self, work):
            if done:
                raise KeyboardInterrupt
            future = real.submit(work)
            done.append(future)
            return future

    real = ThreadPoolExecutor(1)
    monkeypatch.setattr(_threads, "_pool", Pool)
    monkeypatch.setattr(_threads, "cores", lambda: 2)
    with pytest.raises(KeyboardInterrupt):
        parallel(time.sleep, [0.01] * 50)
    assert done[0].done()
    real.shutdown()


def test_threads_are_as_many_as_cores_at_most():
    seen = set()

    def work(i):
        time.sleep(0.001)
        seen.add(threading.current_thread().name)
        return i

    for workers in (2, 3, 5, 8, 20):
        assert parallel(work, range(30), workers) == list(range(30))
    assert len(seen) <= cores()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    assert parallel(abs, [-1, 2, -3], workers=2) == [1, 2, 3]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(parallel(abs, [-1, 2, -3], workers=2) != [1, 2, 3])
        finally:
            os._exit(code)  # no way back into the tests
    for _ in range(6000):  # a minute
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done
    assert os.waitstatus_to_exitcode(status) == 0


def test_tasks_run_side_by_side_off_the_main_thread_too(monkeypatch):
    """Two tasks that wait for each other end only if both run at once."""
    monkeypatch.setattr(_threads, "cores", lambda: 2)
    _threads._pool.cache_clear()
    barrier = threading.Barrier(2, timeout=30)
    assert sorted(on_a_thread(lambda: parallel(lambda _: barrier.wait(), [0, 1]))) == [0, 1]


def test_tasks_within_tasks_do_not_wait_for_their_own_threads():
    def outer(i):
        return sum(parallel(lambda j: i * j, range(20)))

    with limits.seconds(60):
        found = parallel(outer, range(50), workers=8)
    assert found == [190 * i for i in range(50)]


def test_several_threads_of_a_user_share_the_workers():
    """Each gets its own answers in order, and none waits for ever."""

    def work(k):
        return parallel(lambda i: (k, i, threading.current_thread().name), range(20))

    with limits.seconds(60), ThreadPoolExecutor(4) as users:
        found = list(users.map(work, range(8)))
    assert [[(k, i) for k, i, _ in part] for part in found] == [
        [(k, i) for i in range(20)] for k in range(8)
    ]
    if cores() > 1:
        assert all(name.startswith("lorenyi") for part in found for _, _, name in part)


def test_the_number_of_cores_is_what_the_process_may_use(monkeypatch):
    assert 1 <= cores() <= (os.cpu_count() or 1)
    if hasattr(os, "sched_getaffinity"):
        assert cores() <= len(os.sched_getaffinity(0))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert cores() == 1


def test_a_long_part_says_how_far_it_is():
    heard = []
    with reporting(lambda message, share: heard.append((message, share)), 4, "features") as report:
        report.step()
        report._said -= 10.0  # as if it were long ago
        assert [counted(abs, 3, "candidates")(v) for v in (-1, 2)] == [1, 2]
    assert heard == [("1 of 3 candidates", 0.25)]  # once a second at most


def test_counts_of_parallel_items_are_told_in_order(monkeypatch):
    told = []

    class Slow:
        def within(self, message):
            if message.startswith("1 "):
                time.sleep(0.1)  # the other thread is done meanwhile
            told.append(message)

    monkeypatch.setattr(_progress, "_open", [Slow()])
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(counted(abs, 2, "items"), [1, 2]))
    assert told == ["1 of 2 items", "2 of 2 items"]
