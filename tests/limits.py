"""Time limits, so that what never returns fails instead of hanging the suite."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def seconds(limit):
    """Raise TimeoutError in the main thread if the block takes longer than `limit` seconds."""

    def stop(signum, frame):
        raise TimeoutError(f"not done after {limit} s")

    on_main = threading.current_thread() is threading.main_thread()
    if not (on_main and hasattr(signal, "SIGALRM")):  # no such signals there, nor on Windows
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
