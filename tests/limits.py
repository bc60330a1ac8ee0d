"""Time limits, so that what never returns fails instead of hanging the suite."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def seconds(limit):
    """Raise TimeoutError in the main thread if the block takes longer than `limit` seconds."""

    def stop(signum, frame):
        raise TimeoutError(f"not done after {limit} s")

    if threading.current_thread() is not threading.main_thread():  # no signals there
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
