"""Linear algebra on one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def single_blas_thread() -> AbstractContextManager[object]:
    """Keep NumPy's products on the caller's thread, where threadpoolctl is installed.

    The matrices of a fit are tall and narrow: shared among threads, ``J^T J`` takes ten times as
    long as on one, and takes the cores from the simulations.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # not packaged everywhere; slower without
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
