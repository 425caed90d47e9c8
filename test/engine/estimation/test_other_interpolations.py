# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where motion does not tell what commands do between their samples, intervals know of it."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
import pendulum
import pytest

from sysid_ros.engine.estimation import FitResult, FitSettings, beats, fit, model_error_sentences
from sysid_ros.engine.estimation.other_interpolations import other_interpolations
from sysid_ros.engine.parameters import Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.signals import ModelSequences, SignalIntegral, SignalType, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state

LATE, EVERY = 0.03, 5  # s, and time steps from one command to the next
SETTINGS = FitSettings(threads=1, window_length=1.0)
OTHER = "moves with another interpolation of commands"


def recorded(truth: str, now: str, noise: float) -> ModelSequences:
    """Eight seconds of a pendulum whose torques act one way between samples, told another."""
    h = pendulum.TIMESTEP
    times = h * np.arange(round(8.0 / h))
    told = times[::EVERY]
    signal = SignalIntegral(told, pendulum.torque(told), truth)
    acting = signal.mean(times - 0.5 * h - LATE, h)
    model = pendulum.spec(pendulum.TRUTH).compile()
    start = create_initial_state(model, np.zeros(1), np.zeros(1))
    data = mujoco.MjData(model)
    _, angles = mujoco.rollout.rollout(model, data, start[None], acting[None, :, None])
    noisy = angles[0] + noise * np.random.default_rng(2).normal(size=angles[0].shape)
    command, sensor = (SignalType.MjCtrl, np.array([0])), (SignalType.MjSensor, np.array([0]))
    return pendulum.sequences(
        TimeSeries(told, pendulum.torque(told)[:, None], {"motor": command}, (now,)),
        TimeSeries(times, noisy, {"angle": sensor}),
    )


def parameters(*, late: bool = True) -> ParameterDict:
    """Those of the pendulum, with a delay or without."""
    params = pendulum.parameters()
    if late:
        params.add(Parameter("delay", 0.01, 0.0, 0.1, modifier=SignalModifier("motor", "delay")))
    return params


def holds(result: FitResult, name: str, truth: float) -> bool:
    """Return whether a parameter's interval holds its truth."""
    low, high = result[name].interval() or (np.nan, np.nan)
    return bool(low <= truth <= high)


@pytest.mark.parametrize(("truth", "now"), [("cubic", "zoh"), ("zoh", "cubic")])
def test_where_the_motion_does_not_tell_the_way_intervals_hold_both(truth: str, now: str) -> None:
    data = [recorded(truth, now, noise=3e-3)]
    by_noise = fit(data, parameters(), replace(SETTINGS, model_error=False))
    result = fit(data, parameters(), SETTINGS)
    assert result.values == pytest.approx(by_noise.values)
    assert not holds(by_noise, "delay", LATE)
    assert holds(result, "delay", LATE)
    assert OTHER in result["delay"].flags
    low, high = result["delay"].interval() or (0.0, 1.0)
    assert high - low < 4.0 * EVERY * pendulum.TIMESTEP  # and is no wider than it has to be
    assert result.model_error is not None
    (said,) = (
        one for one in model_error_sentences(result.parameters, result.model_error)
        if "another interpolation of commands" in one
    )  # fmt: skip
    assert "delay" in said
    assert "does not tell what commands do between their samples" in said


@pytest.mark.parametrize("way", ["cubic", "zoh"])
def test_where_the_motion_tells_the_way_intervals_are_those_of_that_alone(way: str) -> None:
    result = fit([recorded(way, way, noise=1e-5)], parameters(), SETTINGS)
    assert result.model_error is not None
    (shift,) = (one for one in result.model_error.shifts if one.change in OTHER)
    assert not shift.problem
    assert not np.any(shift.error)
    assert holds(result, "delay", LATE)


def test_only_sampled_commands_have_other_ways() -> None:
    held, measured = recorded("zoh", "zoh", 0.0), recorded("zoh", "linear", 0.0)
    (cubic,) = other_interpolations([held], parameters(), SETTINGS)
    assert cubic.models_sequences[0].control[0].interpolation == ("cubic",)
    assert cubic.inputs == ("motor",)
    assert cubic.later == pytest.approx(0.5 * EVERY * pendulum.TIMESTEP)
    (back,) = other_interpolations(cubic.models_sequences, parameters(), SETTINGS)
    assert back.models_sequences[0].control[0].interpolation == ("zoh",)
    assert back.later == -cubic.later
    assert (
        other_interpolations([measured], parameters(), SETTINGS) == ()
    )  # torque between its samples
    assert other_interpolations([held], parameters(late=False), SETTINGS) == ()
    often = pendulum.sequences(*pendulum.recording(duration=2.0))
    assert other_interpolations([often], parameters(), SETTINGS) == ()


def test_one_model_beats_another_by_enough_and_in_most_windows() -> None:
    base = np.linspace(90.0, 110.0, 16)
    assert beats(base, 1.1 * base)
    assert not beats(base, 1.02 * base)  # errors of both models may be as large
    assert beats(base, 1.02 * base, errors=0.0)  # where all of it is noise
    assert not beats(base, 1.02 * base, errors=base.sum())
    assert not beats(base, 1.005 * base, errors=0.0)
    few = base + np.where(np.arange(16) < 2, 200.0, -0.1)
    assert not beats(base, few)
