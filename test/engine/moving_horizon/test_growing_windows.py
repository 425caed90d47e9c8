# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows of a recording that grows end up as those of the fit of the whole recording."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pendulum
import pytest
from kept_objects import kept_objects

from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.moving_horizon.growing_windows import GrowingWindows
from sysid_ros.engine.parameters import Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries
from sysid_ros.engine.windows import model_group, window_bounds

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


def test_they_begin_as_those_of_the_fit_once_it_is_known_what_acts() -> None:
    recorded = recorded_in_motion()
    params = pendulum.parameters()
    params.add(Parameter("delay", 0.02, 0.0, 0.1, modifier=SignalModifier("motor", "delay")))
    settings = FitSettings(window_length=1.0)
    growing = GrowingWindows(params, settings)
    gaps = ((4.0, 5.0),)
    starts: dict[float, None] = {}
    for now in np.arange(0.2, 7.5, 0.1):
        part = until(recorded, float(now))
        known = tuple((low, min(high, float(now))) for low, high in gaps if low < now)
        found = growing.cut(part.replaced(gaps=[known]), float(now), ended=False)
        starts |= {one.window.start: None for one, last in found if last <= growing.done}
    batch = model_group(
        recorded.replaced(gaps=[gaps]), params, window_length=1.0, estimate_starts=True,
        velocity_filter=30.0,
    )  # fmt: skip
    expected = [one.window.start for one in batch.windows]
    assert expected[0] == pytest.approx(0.1, abs=pendulum.TIMESTEP)
    assert expected[4] == pytest.approx(5.1, abs=pendulum.TIMESTEP)
    assert [*starts] == pytest.approx(expected[: len(starts)])
    assert len(starts) > 5


def test_nothing_is_kept_of_stretches_that_are_done_with() -> None:
    gaps = tuple((begin, begin + 0.5) for begin in np.arange(1.5, 40.0, 2.0))
    recorded = recorded_in_motion(40.0, gaps)
    growing = GrowingWindows(pendulum.parameters(), FitSettings(window_length=1.0))
    kept = []
    for now in np.arange(1.0, 40.0, 1.0):
        known = tuple((low, min(high, float(now))) for low, high in gaps if low < now)
        growing.cut(until(recorded, float(now)).replaced(gaps=[known]), float(now), ended=False)
        kept.append(kept_objects(growing)[0])
    assert max(kept[20:]) <= max(kept[5:20]) + 2


def recorded_in_motion(
    duration: float = 8.0, gaps: tuple[tuple[float, float], ...] = ((4.0, 5.0),)
) -> ModelSequences:
    """A pendulum that swings when the recording begins, and commands that are lost in gaps."""
    times = pendulum.TIMESTEP * np.arange(round(duration / pendulum.TIMESTEP))
    command, sensor = (SignalType.MjCtrl, np.array([0])), (SignalType.MjSensor, np.array([0]))
    kept = np.all([(times <= begin) | (times >= end) for begin, end in gaps], axis=0)
    torque = pendulum.torque(times[kept])[:, None]
    swing = np.sin(3.0 * times)[:, None]
    return pendulum.sequences(
        TimeSeries(times[kept], torque, {"motor": command}),
        TimeSeries(times, swing, {"angle": sensor}),
    )


def until(recorded: ModelSequences, now: float) -> ModelSequences:
    """What has arrived up to an instant."""
    control, measured = (
        replace(one, times=one.times[one.times <= now], data=one.data[one.times <= now])
        for one in (recorded.control[0], recorded.sensordata[0])
    )
    return pendulum.sequences(control, measured)
