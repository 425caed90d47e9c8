# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Work shared between the threads of a pool."""

from __future__ import annotations

import threading

import pytest

from sysid_ros.engine.simulation import RolloutPool

FEW_AND_MANY = (0, 1, 2, 50)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", FEW_AND_MANY)
def test_each_item_is_worked_on_once(threads: int, count: int) -> None:
    done: list[int] = []
    with RolloutPool(threads) as pool:
        pool.for_each(done.append, range(count))
    assert sorted(done) == list(range(count))


def test_the_caller_works_beside_the_others() -> None:
    met, at_work = threading.Barrier(2), set()

    def work(_: int) -> None:
        met.wait(60.0)  # comes back once two are at work
        at_work.add(threading.get_ident())

    with RolloutPool(2) as pool:
        pool.for_each(work, range(2))
    assert len(at_work) == 2 and threading.get_ident() in at_work


def three_fails(item: int) -> None:
    if item == 3:
        raise ValueError("three")


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_told_and_the_pool_goes_on(threads: int) -> None:
    done: list[int] = []
    with RolloutPool(threads) as pool:
        with pytest.raises(ValueError, match="three"):
            pool.for_each(three_fails, range(10))
        pool.for_each(done.append, range(5))
    assert sorted(done) == list(range(5))


def test_nothing_is_begun_after_an_error() -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        three_fails(item)

    with RolloutPool(1) as pool, pytest.raises(ValueError, match="three"):
        pool.for_each(work, range(10))
    assert begun == [0, 1, 2, 3]
