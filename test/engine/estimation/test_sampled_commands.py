# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that are sampled more slowly than they act: a spline through them gives the truth."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation import FitSettings, fit
from sysid_ros.engine.parameters import Parameter, SignalModifier
from sysid_ros.engine.signals import ModelSequences, SignalType, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state

LATE, NOISE, SHOWN = 0.03, 1e-4, 12


def sampled_pendulum(way: str) -> ModelSequences:
    """A pendulum that is driven smoothly, of whose commands one in twelve is recorded."""
    times = pendulum.TIMESTEP * np.arange(round(8.0 / pendulum.TIMESTEP))
    model = pendulum.spec(pendulum.TRUTH).compile()
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    torque = np.where(times < LATE, 0.0, pendulum.torque(times - LATE))[None, :, None]
    _, angles = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], torque)
    noisy = angles[0] + NOISE * np.random.default_rng(2).normal(size=angles[0].shape)
    shown = times[::SHOWN]
    command, sensor = (SignalType.MjCtrl, np.array([0])), (SignalType.MjSensor, np.array([0]))
    return pendulum.sequences(
        TimeSeries(shown, pendulum.torque(shown)[:, None], {"motor": command}, (way,)),
        TimeSeries(times, noisy, {"angle": sensor}),
    )


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_a_spline_gives_the_truth_that_lines_miss(engine: str) -> None:
    params = pendulum.parameters()
    params.add(Parameter("delay", 0.01, 0.0, 0.1, modifier=SignalModifier("motor", "delay")))
    found = {
        way: fit([sampled_pendulum(way)], params, FitSettings(engine=engine))
        for way in ("cubic", "linear")
    }
    late = {way: one["delay"] for way, one in found.items()}
    assert abs(late["cubic"].value - LATE) < 3.0 * late["cubic"].standard_error < 1e-3
    assert found["cubic"].noise["angle"] == pytest.approx(NOISE, rel=0.05)
    assert found["linear"].noise["angle"] > 1.5 * NOISE
