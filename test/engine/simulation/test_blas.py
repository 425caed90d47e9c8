# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Threads of linear algebra."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.engine.simulation.blas import _openblas

threadpoolctl = pytest.importorskip("threadpoolctl")

PROGRAM = """
import scipy.linalg
from threadpoolctl import threadpool_info
from sysid_ros.engine.simulation import single_blas_thread
count = lambda: [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
before = count()
with single_blas_thread():
    within = count()
assert set(before) == {2} and set(within) == {1} and count() == before
first, second = single_blas_thread(), single_blas_thread()  # of two threads, at the same time
first.__enter__(), second.__enter__()
first.__exit__(None, None, None)
assert set(count()) == {1}
second.__exit__(None, None, None)
assert count() == before
"""


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="OpenBLAS has no second thread on a single core"
)
def test_all_products_are_on_one_thread_within(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_a_library_that_is_not_openblas_is_left_to_threadpoolctl(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sysid_ros.engine.simulation.blas._PREFIXES", ("none_",))
    _openblas.cache_clear()
    with single_blas_thread():
        counts = {
            one["num_threads"]
            for one in threadpoolctl.threadpool_info()
            if one["user_api"] == "blas"
        }
    _openblas.cache_clear()
    assert counts == {1}
