# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of a recording that grows end up as those of the fit of the whole recording."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.moving_horizon.growing_windows import GrowingWindows
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.windows import window_bounds

GAPS = ((), ((2.2, 2.9), (5.05, 6.0)), ((1.0, 1.3),))


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("end", [7.2, 7.7, 8.0])
def test_they_are_those_of_the_fit(gaps: tuple[tuple[float, float], ...], end: float):
    growing = GrowingWindows(ParameterDict(), FitSettings(window_length=1.0))
    growing.done = 0.0
    complete: dict[float, float] = {}
    latest: list[tuple[float, float]] = []
    for now in [*np.arange(0.1, end - 0.05, 0.1), end]:
        known = tuple((low, min(high, now)) for low, high in gaps if low < now)
        latest = growing.bounds(float(now), known, ended=now == end)
        complete.update((begin, last) for begin, last in latest if last <= growing.done)
    assert growing.done == pytest.approx(end)
    expected = window_bounds((0.0, end), 1.0, 0.0, gaps)
    assert sorted(complete.items()) == [(pytest.approx(a), pytest.approx(b)) for a, b in expected]
